//! Idioms of other languages, and their equivalents in Rhai. Each row has a foreign word or sign and a sentence with
//! the Rhai code. Knows nothing about errors except their messages and positions.

use call::suggest::nearest;
use languages::script::own;

type Row = (&'static [&'static str], &'static str);

/// Keywords of other languages.
const WORDS: &[Row] = &[
    (&["mut"], "variables made with `let` can change: leave out `mut`"),
    (&["var", "int", "float", "double", "auto", "local", "static", "val", "my"], "`let x = …;` declares a variable"),
    (
        &["function", "func", "def", "sub", "proc", "fun"],
        "`fn f(x) { … }` defines a function, `|x| …` an anonymous one",
    ),
    (&["lambda"], CLOSURE),
    (&["elif", "elseif", "elsif"], "write `else if`"),
    (&["match", "case", "when"], "write `switch x { 1 => …, 2 | 3 => …, _ => … }`"),
    (&["foreach", "of"], "a loop is written `for x in list { … }`"),
    (&["unless"], "write `if !(…) { … }`"),
    (&["then", "begin"], "blocks are written in braces: `if x { … }`"),
    (&["finally"], "Rhai has no `finally`: code after `try { … } catch (e) { … }` runs in either case"),
    (&["except", "rescue"], "write `try { … } catch (e) { … }`"),
    (&["raise"], "write `throw`"),
    (&["assert"], "write `if !(…) { throw \"…\" }`"),
    (&["and"], "write `&&`"),
    (&["or"], "write `||`"),
    (&["not"], "write `!`"),
    (&["is"], "write `==`, or `type_of(x) == \"int\"`"),
    (&["typeof", "instanceof"], "write `type_of(x) == \"int\"`"),
    (&["as"], "write `x.to_float()`, `x.to_int()` or `x.to_string()`"),
    (&["null", "nil", "undefined", "void"], "write `()` or `None`"),
    (&["with"], "`no_grad(|| …)` runs a closure without gradients"),
    (&["use", "from", "include", "require", "using"], "write `import \"file\" as name;`"),
    (&["struct", "class", "enum"], "an object map holds several values: `#{x: 1, y: 2}`"),
    (&["public", "pub"], "everything in a script is public, except functions marked `private fn`"),
    (&["yield", "async", "await", "go", "spawn"], "Rhai runs statements one after the other and has no such keyword"),
    (&["goto"], "`break` leaves a loop, and `continue` starts its next iteration"),
];

const CLOSURE: &str = "an anonymous function is written `|x| x + 1`";

/// Operators that Rhai does not have, or does not allow in this position.
const SIGNS: &[Row] = &[
    (&["++"], "write `x += 1`"),
    (&["--"], "write `x -= 1`; a comment begins with `//`"),
    (&["<>"], "write `!=`"),
    (&["===", "!=="], "write `==` or `!=`"),
    (&[":="], "write `let x = …;`, or `x = …;` if the variable exists"),
    (&["=>"], CLOSURE),
    (&["->"], "a method follows a dot, `x.f()`; an anonymous function is written `|x| x + 1`"),
    (&["~"], "write `bitwise_not(t)`, `!mask` for booleans, or `-1 ^ n` for an integer"),
    (&["?"], "write `if c { a } else { b }`"),
    (&["#"], "a comment begins with `//`"),
];

/// Advice on other messages: the start of the engine's message, the text before the position, and the text at it.
const PLACES: &[(&str, &str, &str, &str)] = &[
    ("Expecting '=>'", "", "", "a case is written `1 => …,`"),
    ("Expecting literal", "switch ", "", "write `switch x { 1 => …, 2 | 3 => …, _ => … }`"),
    (
        "Expecting a literal",
        "switch ",
        "",
        "the cases of a `switch` are numbers, ranges and strings; for anything else write `if x == … { … }`",
    ),
    ("", "", "=>", CLOSURE),
    ("", "fn ", ":", "parameters are written without types: `fn f(x) { … }`"),
    ("", "fn ", "=", "parameters have no defaults; define a second function with fewer: `fn f() { f(1) }`"),
    ("", "fn ", "->", "functions have no return types: `fn f(x) { … }`"),
    ("Expecting body", "fn ", "", "the body is written in braces: `fn f(x) { … }`"),
    ("Unexpected 'fn'", "", "", CLOSURE),
    ("", "for (", "", "a loop counts with `for i in 0..3 { … }`"),
    ("Expecting 'in'", "", "", "a loop is written `for i in 0..3 { … }` or `for x in list { … }`"),
    ("Expecting ','", "[", "for", "`list.map(|x| …)` transforms an array, `list.filter(|x| …)` selects from it"),
    ("", "{", ":", "an object map begins with `#{`: `#{a: 1}`"),
    ("Expecting ':'", "#{", "", "an object map is written `#{a: 1, b: 2}`"),
    ("Expecting ')'", "(", ",", "an array is written in square brackets: `[1, 2]`"),
    ("", "let ", ":", "variables are declared without types: `let x = …;`"),
    ("", "let ", "=", "an assignment has no value: write `y = …; let x = y;`"),
    ("", "=", "=", "an assignment has no value: write `y = …; x = y;`"),
    ("", "let ", ",", "`let` makes one variable: `let a = 1; let b = 2;`"),
    ("Unexpected 'let'", "", "", "`let` is a statement of its own: `let x = …; if x { … }`"),
    ("Unexpected '>'", "<", ">", "write `!=`"),
    (
        "Invalid character",
        "",
        "'",
        "strings are written in double quotes, characters in single quotes: `\"text\"`, `'c'`",
    ),
    ("Expecting '{'", "catch ", "", "write `catch (e) { … }`"),
    ("Expecting '{'", "", "", "the body is written in braces: `if x { … }`, `for i in 0..3 { … }`, `fn f(x) { … }`"),
    ("Function definitions", "", "", "inside another function, use a closure: `let f = |x| …;`"),
];

/// Returns whether another language has this keyword and there is advice on it.
pub(super) fn is_word(word: &str) -> bool {
    WORDS.iter().any(|(words, _)| words.contains(&word))
}

/// Returns advice on a line that does not parse, from the message and the text before and at the position.
pub(super) fn on_syntax(message: &str, before: &str, rest: &str) -> Option<String> {
    let known = |rows: &[Row], word: &str| {
        rows.iter().find(|(words, _)| words.contains(&word)).map(|(_, advice)| (*advice).to_owned())
    };
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let here = rest.split(|c| !is_part(c)).next().unwrap_or_default();
    let recent = before.rsplit(';').next().unwrap_or(before);
    let statement = before.rsplit(['{', '}', ';']).next().unwrap_or(before);
    let mut words = statement.split(|c| !is_part(c)).rev().filter(|word| !word.is_empty());
    let first = |sign: &&(&str, &str, &str, &str)| {
        let (begins, behind, there, _) = **sign;
        message.starts_with(begins)
            && (behind.is_empty() || recent.contains(behind))
            && (there.is_empty() || rest.starts_with(there))
    };
    let sign = SIGNS.iter().find(|(signs, _)| signs.iter().any(|sign| rest.starts_with(sign)));
    let in_place = || PLACES.iter().find(first).map(|(.., advice)| (*advice).to_owned());
    // Short words resemble too many others.
    let misspelt = || {
        let word = statement.split_whitespace().next().filter(|word| word.chars().count() > 5)?;
        let names = WORDS.iter().flat_map(|(words, _)| *words).copied();
        known(WORDS, nearest(word, names)?).filter(|_| message.starts_with("Expecting ';'"))
    };
    on_quotes(rest)
        .or_else(|| reserved(message, before, rest))
        .or_else(|| out_of_order(message, statement, rest))
        .or_else(|| known(WORDS, here))
        .or_else(|| words.find_map(|word| known(WORDS, word)))
        .or_else(misspelt)
        .or_else(in_place)
        .or_else(|| sign.map(|(_, advice)| (*advice).to_owned()))
        .or_else(|| on_words(message, before, statement, rest))
}

/// Returns advice on a text that begins with a quote as word processors write it.
pub(super) fn on_quotes(rest: &str) -> Option<String> {
    let rows = [("“”„‟", "\""), ("‘’‚‛", "'")];
    rows.into_iter().find_map(|(curly, straight)| {
        let curly = curly.chars().find(|curly| rest.starts_with(*curly))?;
        Some(format!("`{curly}` is a curly quote; write `{straight}`"))
    })
}

/// Returns advice on a reserved word used as a variable name.
fn reserved(message: &str, before: &str, rest: &str) -> Option<String> {
    let word = match message.strip_suffix("' is a reserved keyword") {
        Some(word) => word.trim_start_matches('\''),
        None if message.starts_with("Expecting name of a variable") => rest
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .next()
            .filter(|word| word.starts_with(char::is_alphabetic))?,
        None => return None,
    };
    if own::functions().any(|own| own == word) {
        return None;
    }
    let is_declared = matches!(before.split_whitespace().next_back(), Some("let" | "const"));
    is_declared.then(|| format!("`{word}` is a reserved word and cannot be a name: write `{word}_`"))
}

/// Returns advice on Python's `a if c else b` and its f-strings.
fn out_of_order(message: &str, statement: &str, rest: &str) -> Option<String> {
    if !message.starts_with("Expecting") {
        return None;
    }
    let (value, behind) =
        (statement.rsplit(['=', '(', ',', '[']).next().unwrap_or(statement).trim(), rest.strip_prefix("if "));
    if let Some((condition, other)) = behind.and_then(|behind| behind.split_once(" else "))
        && !rest.contains('{')
        && !value.is_empty()
    {
        let other = other.split([';', ')', ',', ']', '\n']).next().unwrap_or(other);
        return Some(format!("`if` comes first: `if {} {{ {value} }} else {{ {} }}`", condition.trim(), other.trim()));
    }
    let is_text = ["f\"", "f'"].iter().any(|text| rest.starts_with(text))
        || statement.ends_with('f') && rest.starts_with(['"', '\'']);
    is_text.then(|| "a string with values in it is written in backticks: `` `x is ${x}` ``".to_owned())
}

/// Returns advice on code that ends too early, and on adjacent words.
fn on_words(message: &str, before: &str, statement: &str, rest: &str) -> Option<String> {
    if let Some(word) = message.strip_suffix("' is a reserved keyword") {
        return Some(match word.trim_start_matches('\'') {
            word if own::functions().any(|own| own == word) => {
                format!("`{word}(…)` is a built-in function, and its name cannot be reused")
            }
            _ => "this word is reserved: choose another name".to_owned(),
        });
    }
    if !message.starts_with("Expecting ';'") {
        return None;
    }
    let (open, closed) = (before.matches('{').count(), before.matches('}').count());
    if rest.trim().is_empty() && open > closed {
        return Some("a `}` is missing at the end".to_owned());
    }
    let beside = statement.ends_with(' ') && statement.trim_end().ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let begins = rest.starts_with(|c: char| c.is_alphanumeric() || "_\"`".contains(c));
    let keyword =
        rest.split(' ').next().is_some_and(|word| ["let", "const", "fn", "if", "for", "while"].contains(&word));
    Some(if beside && begins && !keyword && !statement.contains(" = ") {
        "a call needs parentheses: `f(x)`; statements end with `;`".to_owned()
    } else {
        "statements end with `;`".to_owned()
    })
}

/// Names of other languages that are undefined in Rhai.
const NAMES: &[Row] = &[
    (&["null", "nil", "undefined", "NULL", "nullptr", "none"], "write `()` or `None`"),
    (&["println", "printf", "echo", "puts", "console", "fmt", "System", "Console"], "`print(…)` prints"),
    (&["self", "me"], "in a function, `this` is the value before the dot"),
    (&["TRUE"], "write `true`"),
    (&["FALSE"], "write `false`"),
    (&["exit", "quit"], "write `exit()`"),
    (&["help"], "`:help` explains the shell, `?name` a function"),
    (&["assert"], "write `if !(…) { throw \"…\" }`"),
    (&["typeof"], "write `type_of(x)`"),
    (&["parseInt", "atoi"], "write `parse_int(\"12\")`"),
    (&["parseFloat", "atof"], "write `parse_float(\"1.5\")`"),
    (&["Math", "math"], "number functions need no prefix: `4.0.sqrt()`, `abs(x)`, `PI()`"),
    (&["Torch", "pytorch"], "write `torch`"),
    (&["super", "new", "require", "defer"], "Rhai does not have this keyword"),
];

/// Returns advice on an undefined name.
pub(super) fn on_name(name: &str) -> Option<String> {
    let row = NAMES.iter().find(|(names, _)| names.contains(&name));
    let function = || own::functions().any(|own| own == name);
    match row {
        Some((_, advice)) => Some((*advice).to_owned()),
        None => {
            function().then(|| format!("`{name}` is a built-in function; to pass it as a value, write `|x| {name}(x)`"))
        }
    }
}

/// Members with another name in Rhai, by class.
const MEMBERS: &[(&str, &[&str], &str)] = &[
    ("list", &["length", "size", "count"], "`list.len` is the number of items"),
    (
        "list",
        &["append", "add", "push_back"],
        "`list.push(x)` adds one item, `list.append([x, y])` the items of another array",
    ),
    (
        "list",
        &["extend", "concat"],
        "`list.append(other)` adds the items of another array, `list + other` makes a new array",
    ),
    ("list", &["push"], "call it: `array.push(value)`; a list made in Python has `append(x)`"),
    ("list", &["join"], "write `\", \".join(list)`"),
    ("list", &["includes", "has", "include", "contain"], "write `x in list`"),
    ("list", &["indexOf"], "write `list.index_of(x)`"),
    ("list", &["first", "head"], "write `list[0]`"),
    ("list", &["last", "tail"], "write `list[-1]`"),
    ("list", &["forEach", "each", "iter"], "write `for x in list { … }`"),
    (
        "list",
        &["pop", "delete", "removeAt"],
        "`list.remove(i)` removes the item at an index, `list.pop()` the last, `list.shift()` the first",
    ),
    ("list", &["unshift", "prepend"], "write `list.insert(0, x)`"),
    ("list", &["copy", "clone"], "`let other = list;` is a copy already"),
    ("list", &["slice", "subarray"], "write `list[0..2]`"),
    ("list", &["fold", "inject"], "write `list.reduce(|sum, x| sum + x, 0)`"),
    ("list", &["select", "where"], "write `list.filter(|x| …)`"),
    ("list", &["any", "exists"], "write `list.some(|x| …)`"),
    ("list", &["every"], "write `list.all(|x| …)`"),
    ("list", &["shape", "dtype", "view", "reshape", "size"], "`torch.tensor(list)` makes a tensor of it"),
    ("dict", &["entries", "iter"], "write `for (key, value) in map.items() { … }`"),
    ("dict", &["length", "size", "count"], "`map.len()` is the number of entries"),
    (
        "dict",
        &["has", "has_key", "contains_key", "containsKey", "hasOwnProperty", "includes"],
        "write `\"key\" in map`",
    ),
    ("dict", &["update", "merge", "assign"], "write `map.mixin(other)`, or `map + other` for a new one"),
    ("dict", &["get", "getOrDefault", "setdefault"], "write `map.get(\"key\") ?? 0`"),
    ("dict", &["pop", "delete", "del"], "write `map.remove(\"key\")`"),
    ("dict", &["copy", "clone"], "`let other = map;` is a copy already"),
    ("str", &["length", "size", "count"], "`text.len` is the number of characters"),
    ("str", &["toUpperCase", "to_uppercase", "upcase", "uppercase"], "write `text.to_upper()`"),
    ("str", &["toLowerCase", "to_lowercase", "downcase", "lowercase"], "write `text.to_lower()`"),
    ("str", &["reverse", "rev"], "write `\"\".join(text.reversed())`"),
    ("str", &["substring", "substr", "slice"], "write `text[0..2]` or `text.sub_string(0, 2)`"),
    ("str", &["charAt", "char_at"], "write `text[0]`"),
    ("str", &["includes", "has", "include"], "write `\"a\" in text`"),
    ("str", &["indexOf"], "write `text.index_of(\"a\")`"),
    ("str", &["concat", "append_str", "push"], "write `text + other`, or `text += other;`"),
    ("str", &["shape", "dtype", "view"], "this is a string, not a tensor"),
    ("int", &["toString", "to_s", "str"], "write `x.to_string()`"),
    ("float", &["toString", "to_s", "str"], "write `x.to_string()`"),
    ("float", &["toFixed", "format"], "write `format(\"{:.2f}\", x)`"),
    ("range", &["to_array", "collect", "to_list", "toArray", "to_vec"], "write `list(0..3)`"),
    ("range", &["step", "step_by", "by"], "`range(0, 10, 2)` has a step"),
    ("range", &["rev", "reverse"], "write `reversed(0..3)`"),
    ("range", &["length", "size"], "write `len(0..3)`"),
    ("bytearray", &["view", "tensor"], "`torch.frombuffer(bytes, dtype=int32)` makes a tensor that shares them"),
    ("bytearray", &["length", "size"], "`bytes.len` is the number of bytes"),
    ("Tensor", &["length", "count", "len"], "`t.numel()` is the number of elements, `len(t)` the number of rows"),
    ("Tensor", &["is_empty", "empty"], "write `t.numel() == 0`"),
    ("Tensor", &["to_array", "to_list", "toArray"], "write `t.tolist()`"),
    (
        "Tensor",
        &["map", "for_each"],
        "tensor operations apply to all elements at once; to visit them one by one, write `t.tolist().map(|x| …)`",
    ),
    ("Tensor", &["push", "append"], "a tensor cannot grow: `torch.cat([a, b])` joins two"),
    ("function", &["apply", "invoke", "run"], "write `f(x)`, or `f.call(x)`"),
];

/// The names of classes in [`own::TABLE`].
const OWN: &[(&str, &[&str])] = &[
    ("list", &["array"]),
    ("dict", &["map"]),
    ("str", &["text"]),
    ("int", &["number", "x"]),
    ("float", &["x", "number"]),
    ("function", &["closure"]),
    ("range", &["range"]),
    ("bytearray", &["blob"]),
    ("timestamp", &["time"]),
];

/// Returns advice on an attribute or method that a class does not have.
pub(super) fn on_member(class: &str, name: &str) -> Option<String> {
    let other = MEMBERS.iter().find(|(of, names, _)| *of == class && names.contains(&name));
    if let Some((.., advice)) = other {
        return Some((*advice).to_owned());
    }
    if name == "is_shared" {
        return Some("`is_shared(x)` tells whether a closure has captured a variable".to_owned());
    }
    let (_, values) = OWN.iter().find(|(of, _)| *of == class)?;
    let usages = |own: &'static own::RhaiFunction| {
        own.usage.split("; ").filter(|usage| usage.split_once('.').is_some_and(|(value, _)| values.contains(&value)))
    };
    let near = nearest(name, own::TABLE.iter().filter(|own| usages(own).next().is_some()).map(|own| own.name));
    let own = own::TABLE.iter().find(|own| own.name == name);
    match own.map(|own| usages(own).map(|usage| format!("`{usage}`")).collect::<Vec<_>>()) {
        Some(ways) if !ways.is_empty() => Some(format!("call it like this: {}", ways.join(", "))),
        _ => near.map(|near| format!("did you mean '{near}'?")),
    }
}

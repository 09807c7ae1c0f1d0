//! Help on Rhai's own functions: how to call each, and what it does. The function table does not list them. Each row
//! has an example expression, which a test runs.

/// A function of Rhai.
pub struct RhaiFunction {
    pub name: &'static str,
    /// The ways to call it, separated by "; ".
    pub usage: &'static str,
    pub doc: &'static str,
    /// An expression that calls it.
    pub example: &'static str,
}

macro_rules! table {
    ($($name:literal $usage:literal $doc:literal $example:literal;)*) => {
        &[$(RhaiFunction { name: $name, usage: $usage, doc: $doc, example: $example }),*]
    };
}

/// All rows, in alphabetical order.
pub const TABLE: &[RhaiFunction] = table! {
    "E" "E()" "The base of natural logarithms." "E()";
    "Fn" "Fn(name)" "Returns the function of this name as a value, to be called later." "Fn(\"abs\").call(-1)";
    "PI" "PI()" "The ratio of a circle's circumference to its diameter." "PI()";
    "abs" "abs(x)" "Returns the absolute value of a number." "abs(-1)";
    "acos" "acos(x)" "Returns the angle in radians that has this cosine." "acos(1.0)";
    "acosh" "acosh(x)" "Returns the number that has this hyperbolic cosine." "acosh(1.0)";
    "all" "array.all(|item| …); array.all(|item, index| …)" "Returns whether the closure says yes to every item." "[1, 2].all(|x| x > 0)";
    "append" "array.append(other); text.append(value); blob.append(other)" "Puts the items of another array, the text of a value, or more bytes at the end." "let a = [1]; a.append([2]); a";
    "as_string" "blob.as_string()" "Reads bytes as text in UTF-8." "blob(2, 97).as_string()";
    "asin" "asin(x)" "Returns the angle in radians that has this sine." "asin(1.0)";
    "asinh" "asinh(x)" "Returns the number that has this hyperbolic sine." "asinh(1.0)";
    "atan" "atan(x); atan(x, y)" "Returns the angle in radians that has this tangent, or that of a point." "atan(1.0)";
    "atanh" "atanh(x)" "Returns the number that has this hyperbolic tangent." "atanh(0.5)";
    "blob" "blob(); blob(length); blob(length, byte)" "Makes a bytearray of so many equal bytes; tensors can share it, and other variables do." "blob(4, 0x61)";
    "bytes" "text.bytes" "The number of bytes of a text." "\"abc\".bytes";
    "call" "closure.call(…)" "Calls a closure or a function value." "let f = |x| x + 1; f.call(1)";
    "ceiling" "x.ceiling()" "Rounds up, as `ceil` does; a float stays a float." "1.5.ceiling()";
    "chars" "text.chars(); text.chars(start); text.chars(start, length); text.chars(range)" "Goes through the characters of a text in a loop." "for c in \"abc\".chars() {}";
    "chop" "array.chop(length); blob.chop(length)" "Cuts items off the beginning until so many are left." "let a = [1, 2, 3]; a.chop(2); a";
    "clear" "array.clear(); map.clear(); text.clear(); blob.clear()" "Removes everything." "let a = [1]; a.clear(); a";
    "contains" "array.contains(value); map.contains(key); text.contains(part); range.contains(number)" "Returns whether it is in there, as `in` does." "[1, 2].contains(2)";
    "cos" "cos(x)" "Returns the cosine of an angle in radians." "cos(1.0)";
    "cosh" "cosh(x)" "Returns the hyperbolic cosine." "cosh(1.0)";
    "crop" "text.crop(start); text.crop(start, length); text.crop(range)" "Keeps only this part of a text." "let s = \"abcd\"; s.crop(1, 2); s";
    "curry" "closure.curry(value, …)" "Returns a function with its first arguments given already." "let f = |a, b| a - b; f.curry(3).call(1)";
    "debug" "debug(value)" "Prints a value as code would write it, texts in quotes." "debug(\"a\")";
    "dedup" "array.dedup(); array.dedup(|a, b| …)" "Removes items that equal the one before them." "let a = [1, 1, 2]; a.dedup(); a";
    "drain" "array.drain(|item| …); array.drain(range); array.drain(start, length)" "Takes out the items that the closure says yes to, or a part, and gives them; maps and blobs alike." "let a = [1, 2]; a.drain(|x| x > 1)";
    "elapsed" "time.elapsed" "The seconds since a timestamp, as a float." "timestamp().elapsed >= 0.0";
    "end" "range.end" "The number a range ends before, or with if it is inclusive." "(0..3).end";
    "ends_with" "text.ends_with(part)" "Returns whether a text ends with another." "\"abc\".ends_with(\"c\")";
    "eval" "eval(text)" "Runs a text as code and gives its value." "eval(\"1 + 1\")";
    "exit" "exit(); exit(status)" "Ends the script with an exit status, 0 if none is given." "|| exit(3)";
    "exp" "exp(x)" "Returns e to the power of a number." "exp(1)";
    "extract" "array.extract(start); array.extract(start, length); array.extract(range)" "Returns a part of an array or a blob as a copy." "[1, 2, 3].extract(1, 2)";
    "fill_with" "map.fill_with(other)" "Takes over the entries of another object map whose keys are missing." "let m = #{a: 1}; m.fill_with(#{b: 2}); m";
    "filter" "array.filter(|item| …); map.filter(|key, value| …)" "Returns the items that the closure says yes to." "[1, 2].filter(|x| x > 1)";
    "find" "array.find(|item| …); array.find(|item| …, start)" "Returns the first item that the closure says yes to, or ()." "[1, 2].find(|x| x > 1)";
    "find_map" "array.find_map(|item| …); array.find_map(|item| …, start)" "Returns the first answer of the closure that is not ()." "[1, 2].find_map(|x| if x > 1 { x * 10 })";
    "floor" "x.floor()" "Rounds down; a float stays a float." "1.5.floor()";
    "for_each" "array.for_each(|| …)" "Calls a closure for each item, which is its `this`." "let a = [1, 2]; a.for_each(|| this += 1); a";
    "fraction" "x.fraction()" "Returns what a float has behind the point." "1.5.fraction()";
    "get" "array.get(index); map.get(key); text.get(index); blob.get(index)" "Returns an item, or () if there is none." "[1, 2].get(5)";
    "get_bit" "number.get_bit(index)" "Returns whether a bit is set; the lowest is 0." "5.get_bit(2)";
    "get_bits" "number.get_bits(start, count); number.get_bits(range)" "Returns some bits of a number as a number." "0xF0.get_bits(4, 4)";
    "get_fn_metadata_list" "get_fn_metadata_list(); get_fn_metadata_list(name)" "Lists the functions that scripts have defined." "get_fn_metadata_list()";
    "hypot" "hypot(x, y)" "Returns the length of the diagonal of a rectangle." "hypot(3.0, 4.0)";
    "index_of" "array.index_of(value); array.index_of(|item| …); text.index_of(part)" "Returns the place of the first hit, or -1; a second argument says where to begin." "[1, 2].index_of(2)";
    "insert" "array.insert(index, value); blob.insert(index, byte)" "Puts an item before the one at a place." "let a = [1]; a.insert(0, 0); a";
    "int" "x.int; int(x)" "The whole part of a float, as a whole number." "1.5.int";
    "is_anonymous" "closure.is_anonymous" "Whether a function value is a closure." "let f = || 1; f.is_anonymous";
    "is_def_fn" "is_def_fn(name, count)" "Returns whether a script has defined a function with so many parameters." "is_def_fn(\"f\", 1)";
    "is_def_var" "is_def_var(name)" "Returns whether there is a variable of this name." "is_def_var(\"f\")";
    "is_empty" "array.is_empty(); map.is_empty(); text.is_empty(); blob.is_empty()" "Returns whether nothing is in there." "[].is_empty()";
    "is_even" "number.is_even" "Whether an integer is even." "2.is_even";
    "is_exclusive" "range.is_exclusive" "Whether a range leaves out its end." "(0..3).is_exclusive";
    "is_finite" "x.is_finite" "Whether a float is neither infinite nor NaN." "1.5.is_finite";
    "is_inclusive" "range.is_inclusive" "Whether a range ends with its end." "(0..=3).is_inclusive";
    "is_infinite" "x.is_infinite" "Whether a float is infinite." "1.5.is_infinite";
    "is_nan" "x.is_nan" "Whether a float is not a number." "1.5.is_nan";
    "is_odd" "number.is_odd" "Whether an integer is odd." "3.is_odd";
    "is_shared" "is_shared(variable)" "Returns whether closures have captured a variable." "let x = 1; is_shared(x)";
    "is_zero" "number.is_zero" "Whether a number is zero." "0.is_zero";
    "items" "map.items()" "Returns the entries of an object map as an array of pairs." "#{a: 1}.items()";
    "keys" "map.keys()" "Returns the keys of an object map as an array." "#{a: 1}.keys()";
    "len" "array.len; map.len(); text.len; blob.len()" "The number of items, entries, characters or bytes." "[1, 2].len";
    "ln" "ln(x)" "Returns the natural logarithm, as `log` does." "2.5.ln()";
    "log" "log(x); log(x, base)" "Returns the natural logarithm of a number, or the logarithm to a base." "log(100.0, 10)";
    "make_lower" "text.make_lower()" "Makes all letters of a text small, in place." "let s = \"A\"; s.make_lower(); s";
    "make_upper" "text.make_upper()" "Makes all letters of a text capital, in place." "let s = \"a\"; s.make_upper(); s";
    "map" "array.map(|item| …); array.map(|item, index| …); map.map(|key, value| …)" "Returns what the closure makes of each item." "[1, 2].map(|x| x * 2)";
    "max" "max(a, b)" "Returns the larger of two." "max(1, 2)";
    "min" "min(a, b)" "Returns the smaller of two." "min(1, 2)";
    "mixin" "map.mixin(other)" "Takes over all entries of another object map." "let m = #{a: 1}; m.mixin(#{a: 2}); m";
    "name" "closure.name" "The name of a function value." "Fn(\"abs\").name";
    "order" "array.order(); array.order(|a, b| …)" "Returns a sorted copy of an array." "[2, 1].order()";
    "order_by" "array.order_by(|a, b| …)" "Returns a copy sorted by a closure that gives a number below, of or above 0." "[2, 1].order_by(|a, b| a - b)";
    "order_desc" "array.order_desc()" "Returns a copy of an array, the largest item first." "[1, 2].order_desc()";
    "pad" "array.pad(length, value); text.pad(length, filler); blob.pad(length, byte)" "Fills up the end until it is so long." "let a = [1]; a.pad(3, 0); a";
    "parse_be_float" "blob.parse_be_float(range); blob.parse_be_float(start, length)" "Reads a float from 8 bytes, the highest first." "blob(8).parse_be_float(0, 8)";
    "parse_be_int" "blob.parse_be_int(range); blob.parse_be_int(start, length)" "Reads an integer from up to 8 bytes, the highest first; those that are missing are zeros behind." "blob(4, 1).parse_be_int(0, 2)";
    "parse_float" "parse_float(text)" "Reads a float from a text." "parse_float(\"1.5\")";
    "parse_int" "parse_int(text); parse_int(text, base)" "Reads an integer from a text, in a base from 2 to 36." "parse_int(\"ff\", 16)";
    "parse_json" "parse_json(text)" "Reads a text in JSON: objects as object maps, arrays, numbers, texts, true, false and ()." "parse_json(`{\"a\": [1, 2.5, null]}`)";
    "parse_le_float" "blob.parse_le_float(range); blob.parse_le_float(start, length)" "Reads a float from 8 bytes, the lowest first." "blob(8).parse_le_float(0, 8)";
    "parse_le_int" "blob.parse_le_int(range); blob.parse_le_int(start, length)" "Reads an integer from bytes, the lowest first." "blob(4, 1).parse_le_int(0..2)";
    "pop" "array.pop(); text.pop(); blob.pop()" "Removes the last item and gives it." "let a = [1, 2]; a.pop()";
    "print" "print(value, …)" "Prints values with blanks between them, and ends the line." "print(1, true)";
    "push" "array.push(value); blob.push(byte)" "Puts an item at the end." "let a = [1]; a.push(2); a";
    "range" "range(stop); range(start, stop); range(start, stop, step)" "Goes through numbers in a loop." "for i in range(0, 4, 2) {}";
    "reduce" "array.reduce(|sum, item| …); array.reduce(|sum, item| …, first)" "Makes one value of all items; without a first value, the sum begins as ()." "[1, 2].reduce(|sum, x| sum + x, 0)";
    "reduce_rev" "array.reduce_rev(|sum, item| …); array.reduce_rev(|sum, item| …, first)" "As `reduce`, from the last item to the first." "[1, 2].reduce_rev(|sum, x| sum + x, 0)";
    "remove" "array.remove(index); map.remove(key); text.remove(part)" "Removes an item and gives it; from a text, every such part. A bytearray removes the first such byte." "let a = [1, 2]; a.remove(0)";
    "replace" "text.replace(old, new)" "Replaces every such part of a text, in place." "let s = \"aa\"; s.replace(\"a\", \"b\"); s";
    "retain" "array.retain(|item| …); array.retain(range); array.retain(start, length)" "Keeps the items that the closure says yes to, or a part, and gives the others; maps and blobs alike." "let a = [1, 2]; a.retain(|x| x > 1); a";
    "reverse" "array.reverse(); blob.reverse()" "Turns the order around, in place." "let a = [1, 2]; a.reverse(); a";
    "round" "round(x); round(x, digits)" "Rounds to the nearest whole number, halves to the even one, or to so many digits." "round(2.5)";
    "set" "array.set(index, value); map.set(key, value); text.set(index, character); blob.set(index, byte)" "Puts a value in a place; one beyond the end changes nothing." "let a = [1]; a.set(0, 2); a";
    "set_bit" "number.set_bit(index, truth)" "Sets or clears a bit of an integer variable." "let x = 0; x.set_bit(2, true); x";
    "set_bits" "number.set_bits(start, count, value); number.set_bits(range, value)" "Writes some bits of an integer variable." "let x = 0; x.set_bits(4, 4, 0xF); x";
    "set_tag" "set_tag(variable, number)" "Attaches a small number to a variable." "let x = 1; set_tag(x, 5); x";
    "shift" "array.shift(); blob.shift()" "Removes the first item and gives it." "let a = [1, 2]; a.shift()";
    "sign" "x.sign()" "Returns -1, 0 or 1 for a negative number, zero or a positive number, in its own kind." "(-5).sign()";
    "sin" "sin(x)" "Returns the sine of an angle in radians." "sin(1.0)";
    "sinh" "sinh(x)" "Returns the hyperbolic sine." "sinh(1.0)";
    "sleep" "sleep(seconds)" "Waits; Ctrl-C ends it." "sleep(0)";
    "some" "array.some(|item| …); array.some(|item, index| …)" "Returns whether the closure says yes to any item." "[1, 2].some(|x| x > 1)";
    "sort" "array.sort(); array.sort(|a, b| …)" "Sorts an array in place; a closure gives a number below, of or above 0." "let a = [2, 1]; a.sort(); a";
    "sort_by" "array.sort_by(|a, b| …)" "Sorts an array in place by a closure." "let a = [2, 1]; a.sort_by(|a, b| a - b); a";
    "sort_desc" "array.sort_desc()" "Sorts an array in place, the largest item first." "let a = [1, 2]; a.sort_desc(); a";
    "splice" "array.splice(start, length, other); array.splice(range, other)" "Replaces a part of an array or a blob by another." "let a = [1, 2, 3]; a.splice(0, 2, [9]); a";
    "split" "text.split(separator); text.split(separator, count); text.split(); array.split(index)" "Splits a text into an array of parts; cuts an array or a blob in two and gives the second." "\"a b\".split(\" \")";
    "split_rev" "text.split_rev(separator); text.split_rev(separator, count)" "As `split`, from the end." "\"a b\".split_rev(\" \")";
    "sqrt" "sqrt(x)" "Returns the square root of a number." "sqrt(4)";
    "start" "range.start" "The number a range begins with." "(0..3).start";
    "starts_with" "text.starts_with(part)" "Returns whether a text begins with another." "\"abc\".starts_with(\"a\")";
    "sub_string" "text.sub_string(start); text.sub_string(start, length); text.sub_string(range)" "Returns a part of a text." "\"abcd\".sub_string(1, 2)";
    "tag" "variable.tag" "The small number attached to a variable." "let x = 1; x.tag";
    "tan" "tan(x)" "Returns the tangent of an angle in radians." "tan(1.0)";
    "tanh" "tanh(x)" "Returns the hyperbolic tangent." "tanh(1.0)";
    "timestamp" "timestamp()" "Returns this moment; `.elapsed` of it are the seconds since, and moments are subtracted in seconds." "let t = timestamp(); t.elapsed < 60.0";
    "to_array" "blob.to_array()" "Returns the bytes as an array of integers." "blob(2, 1).to_array()";
    "to_binary" "number.to_binary()" "Writes an integer in base 2." "5.to_binary()";
    "to_blob" "text.to_blob()" "Returns a text in UTF-8 as a bytearray, which tensors can share." "\"abcd\".to_blob()";
    "to_chars" "text.to_chars()" "Returns the characters of a text as an array." "\"abc\".to_chars()";
    "to_debug" "value.to_debug()" "Returns a value as code would write it." "\"a\".to_debug()";
    "to_degrees" "x.to_degrees()" "Converts an angle from radians to degrees." "PI().to_degrees()";
    "to_float" "number.to_float()" "Converts a number to a float." "1.to_float()";
    "to_hex" "number.to_hex()" "Writes an integer in base 16." "255.to_hex()";
    "to_int" "x.to_int()" "Cuts off what a float has behind the point; a character gives its digit." "1.5.to_int()";
    "to_json" "map.to_json(); array.to_json()" "Writes an object map or an array as JSON; of a tensor, write its `tolist()`." "#{a: 1}.to_json()";
    "to_lower" "text.to_lower()" "Returns a text with all letters small." "\"A\".to_lower()";
    "to_octal" "number.to_octal()" "Writes an integer in base 8." "8.to_octal()";
    "to_radians" "x.to_radians()" "Converts an angle from degrees to radians." "180.0.to_radians()";
    "to_string" "value.to_string()" "Returns a value as `print` writes it." "true.to_string()";
    "to_upper" "text.to_upper()" "Returns a text with all letters capital." "\"a\".to_upper()";
    "trim" "text.trim()" "Removes the blanks around a text, in place." "let s = \" a \"; s.trim(); s";
    "truncate" "array.truncate(length); text.truncate(length); blob.truncate(length)" "Cuts off the end until so many items are left." "let a = [1, 2]; a.truncate(1); a";
    "type_of" "type_of(value)" "Returns the name of a value's type." "type_of(1)";
    "values" "map.values()" "Returns the values of an object map as an array." "#{a: 1}.values()";
    "write_ascii" "blob.write_ascii(range, text); blob.write_ascii(start, length, text)" "Writes the ASCII characters of a text over bytes." "let b = blob(4); b.write_ascii(0, 4, \"ab\"); b";
    "write_be" "blob.write_be(range, number); blob.write_be(start, length, number)" "Writes a number over bytes, the highest first." "let b = blob(4); b.write_be(0, 4, 1); b";
    "write_le" "blob.write_le(range, number); blob.write_le(start, length, number)" "Writes a number over bytes, the lowest first." "let b = blob(4); b.write_le(0..4, 1); b";
    "write_utf8" "blob.write_utf8(range, text); blob.write_utf8(start, length, text)" "Writes a text in UTF-8 over bytes." "let b = blob(4); b.write_utf8(0, 4, \"ab\"); b";
    "zip" "array.zip(other, |a, b| …)" "Returns what the closure makes of each pair of items." "[1, 2].zip([3, 4], |a, b| a * b)";
};

/// Returns the names that can be called, leaving out pure properties.
pub fn functions() -> impl Iterator<Item = &'static str> {
    TABLE.iter().filter(|own| own.usage.contains('(')).map(|own| own.name)
}

/// Returns whether a method modifies its receiver. The example of such a method shows the receiver afterwards.
pub fn changes(name: &str) -> bool {
    let own = TABLE.iter().find(|own| own.name == name);
    let example = own.and_then(|own| own.example.strip_prefix("let "));
    example.is_some_and(|example| example.get(..1).is_some_and(|name| example.ends_with(&format!("; {name}"))))
}

/// Returns the ways to call a function of Rhai, each between backticks. `None` for any other name.
pub fn usages(name: &str) -> Option<Vec<String>> {
    let own = TABLE.iter().find(|own| own.name == name && own.usage.contains('('))?;
    Some(own.usage.split("; ").map(|usage| format!("`{usage}`")).collect())
}

/// Returns the methods and properties of a kind of value, as named in the usages, each with its line of help.
pub fn members(kind: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let before = format!("{kind}.");
    let has = move |own: &&RhaiFunction| own.usage.split("; ").any(|usage| usage.starts_with(&before));
    TABLE.iter().filter(has).map(|own| (own.name, own.doc))
}

/// Returns help on a function of Rhai. `None` for any other name.
pub fn describe(name: &str) -> Option<String> {
    let own = TABLE.iter().find(|own| own.name == name)?;
    let usages: String = own.usage.split("; ").map(|usage| format!("{usage}\n")).collect();
    Some(format!("{usages}    {} (Rhai)\n", own.doc))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::engine::{build, compile};
    use crate::script::reading::Names;
    use crate::script::runtime::Runtime;
    use call::State;
    use rhai::Dynamic;
    use std::cell::RefCell;
    use std::rc::Rc;
    use torch::library::registry;

    #[test]
    fn every_function_can_be_called() {
        let state = Rc::new(Runtime::new(State::new(registry(), None)));
        let engine = RefCell::new(build(&state));
        for own in TABLE {
            let is_named = own.example.contains(own.name) && own.usage.contains(own.name);
            assert!(is_named && own.doc.ends_with('.'), "{}", own.name);
            let compiled = compile(&engine, &state, own.example, &Names { is_closure: &|_| false, is_variable: None });
            let compiled = compiled.unwrap_or_else(|fault| panic!("{}: {}", own.name, fault.made));
            let result = engine.borrow().eval_ast::<Dynamic>(&compiled.made);
            assert!(result.is_ok(), "{}: {:?}", own.name, result.err().map(|error| error.to_string()));
        }
    }

    #[test]
    fn names_stand_in_order_and_once() {
        assert!(TABLE.windows(2).all(|pair| pair[0].name < pair[1].name));
        assert!(describe("parse_float").is_some_and(|text| text.starts_with("parse_float(text)\n    Reads")));
        assert!(describe("no_such_name").is_none());
    }
}

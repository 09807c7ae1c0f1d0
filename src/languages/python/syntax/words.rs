//! Finds CPython's message and position for a fault found by ruff's parser. ruff's first error and the tokens around it
//! select one of the messages in CPython's grammar. The default is `invalid syntax`.
//!
//! Knows nothing about the meaning of the tree, and never shows ruff's own messages.

use ruff_python_ast::token::TokenKind;
use ruff_python_ast::{Expr, ModExpression};
use ruff_python_parser::{ParseErrorType as Fault, Parsed, UnsupportedSyntaxErrorKind as Newer, parse_expression};
use ruff_text_size::TextRange;

use super::SyntaxFault;
use super::tokens::{TokenClass, Tokens, string_fault};
use call::module_names::is_keyword;

/// The parser's finding, and its range.
pub(super) enum ParserFault<'a> {
    Wrong(&'a Fault, TextRange),
    /// A construct that Python 3.11 does not have.
    Newer(&'a Newer, TextRange),
}

struct Words<'s> {
    source: &'s str,
    tokens: Tokens<'s>,
    /// The index of the token at which the parser stopped.
    here: usize,
}

type Diagnosis = Option<(String, usize)>;

/// Returns the one fault that CPython reports.
pub(super) fn fault(source: &str, refused: &ParserFault<'_>) -> SyntaxFault {
    let (ParserFault::Wrong(_, range) | ParserFault::Newer(_, range)) = refused;
    let (start, end) = (range.start().to_usize(), range.end().to_usize());
    let tokens = Tokens::of(source);
    let here = tokens.all.iter().position(|token| token.start >= start || token.end > start);
    let mut words = Words { source, here: here.unwrap_or(tokens.all.len()), tokens };
    let ended = words.here >= words.tokens.all.len();
    if let Some(fault) = words.tokens.fault.take_if(|_| ended || !words.tokens.quiet) {
        let open = fault.message.starts_with("unterminated triple") || fault.message.starts_with("unexpected EOF");
        return SyntaxFault { incomplete: open && ended, ..fault };
    }
    let upto = words.tokens.all.iter().take_while(|token| token.start < end.max(start + 1));
    if let Some((message, at)) = string_fault(source, upto) {
        return SyntaxFault::syntax(message, at);
    }
    if let Some(open) = words.tokens.open.last().copied() {
        let later = || words.tokens.line(words.at(words.here)) > words.tokens.line(open);
        // CPython looks one token ahead to find the end of an expression.
        let behind = || words.here + 1 == words.tokens.all.len() && words.is_operand(words.here);
        if ended || later() || behind() {
            let bracket = source.get(open..).and_then(|rest| rest.chars().next()).unwrap_or_default();
            let message = format!("'{bracket}' was never closed");
            return SyntaxFault { incomplete: ended, ..SyntaxFault::syntax(message, open) };
        }
    }
    let at_end =
        (words.here..words.tokens.all.len()).all(|i| matches!(words.kind(i), TokenClass::Newline | TokenClass::Dedent));
    if let ParserFault::Wrong(Fault::OtherError(text), _) = refused {
        let open = SyntaxFault { incomplete: at_end, ..SyntaxFault::syntax("", words.at(words.here)) };
        if text.starts_with("Expected an indented block") {
            return SyntaxFault { kind: "IndentationError", message: words.block(), ..open };
        }
        if text.starts_with("Expected `except`") {
            return SyntaxFault { message: "expected 'except' or 'finally' block".into(), ..open };
        }
        if text.starts_with("Expected class, function") {
            return SyntaxFault { message: "invalid syntax".into(), ..open };
        }
    }
    if words.kind(words.here) == TokenClass::Indent {
        let at = words.tokens.all.get(words.here).map_or(0, |token| token.end.saturating_sub(1));
        return SyntaxFault::new("IndentationError", "unexpected indent", at);
    }
    let said = match refused {
        ParserFault::Wrong(fault, _) => words.parse_fault(fault, start, end),
        ParserFault::Newer(newer, _) => words.newer(newer),
    };
    let (message, at) = said.unwrap_or_else(|| ("invalid syntax".to_owned(), words.at(words.here)));
    SyntaxFault::syntax(message, at)
}

fn said(message: impl Into<String>, at: usize) -> Diagnosis {
    Some((message.into(), at))
}

impl Words<'_> {
    fn text(&self, index: usize) -> &str {
        let token = self.tokens.all.get(index).filter(|token| token.kind != TokenClass::Indent);
        token.and_then(|token| self.source.get(token.start..token.end)).unwrap_or_default()
    }

    /// Returns the text of the token `steps` before the one at which the parser stopped.
    fn back(&self, steps: usize) -> &str {
        self.here.checked_sub(steps).map_or("", |index| self.text(index))
    }

    fn at(&self, index: usize) -> usize {
        let last = self.tokens.all.get(index).filter(|token| token.start < self.source.len());
        last.map_or(self.source.trim_end_matches(['\n', '\r']).len(), |token| token.start)
    }

    fn kind(&self, index: usize) -> TokenClass {
        self.tokens.all.get(index).map_or(TokenClass::Newline, |token| token.kind)
    }

    /// Returns the first token of an expression that ends before `index`. Goes back, over whole brackets, to one of the
    /// `stops`, an open bracket or the start of the line.
    fn first(&self, index: usize, stops: &[&str]) -> usize {
        let (mut first, mut depth) = (index, 0_usize);
        while let Some(before) = first.checked_sub(1) {
            match self.text(before) {
                ")" | "]" | "}" => depth += 1,
                "(" | "[" | "{" if depth == 0 => break,
                "(" | "[" | "{" => depth -= 1,
                "" => break,
                "*" | "**" if depth == 0 && stops.len() > 1 && self.is_opening(before) => break,
                "in" if depth == 0
                    && stops.len() > 1
                    && self.text(self.first(before, &["for"]).wrapping_sub(1)) == "for" =>
                {
                    break;
                }
                text if depth == 0 && stops.contains(&text) => break,
                _ => {}
            }
            first = before;
        }
        first
    }

    /// Goes forward, over whole brackets, to one of the `stops` or the end of the bracket or line.
    fn last(&self, index: usize, stops: &[&str]) -> usize {
        let (mut last, mut depth) = (index, 0_usize);
        loop {
            match self.text(last) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" if depth == 0 => return last,
                ")" | "]" | "}" => depth -= 1,
                "" => return last,
                text if depth == 0 && stops.contains(&text) => return last,
                _ => {}
            }
            last += 1;
        }
    }

    /// Returns whether a token starts a new expression: no operator before it continues an earlier one.
    fn is_opening(&self, index: usize) -> bool {
        index.checked_sub(1).is_none_or(|before| matches!(self.text(before), "(" | "[" | "{" | "," | "" | "=" | ":"))
    }

    /// Returns the innermost open bracket around a token.
    fn bracket(&self, index: usize) -> Option<usize> {
        self.first(index, &[]).checked_sub(1).filter(|open| matches!(self.text(*open), "(" | "[" | "{"))
    }

    fn is_definition(&self, bracket: usize) -> bool {
        bracket.checked_sub(2).is_some_and(|before| self.text(before) == "def")
    }

    fn is_operand_end(&self, index: usize) -> bool {
        match self.kind(index) {
            TokenClass::Number | TokenClass::Text => true,
            TokenClass::Name => !is_keyword(self.text(index)),
            TokenClass::Sign => matches!(self.text(index), ")" | "]" | "}" | "..."),
            _ => false,
        }
    }

    /// Returns whether a new expression begins here, rather than continuing the previous one.
    fn is_operand(&self, index: usize) -> bool {
        match self.kind(index) {
            TokenClass::Number | TokenClass::Text => true,
            TokenClass::Name => !is_keyword(self.text(index)) || matches!(self.text(index), "lambda" | "not" | "await"),
            TokenClass::Sign => matches!(self.text(index), "{" | "~" | "..."),
            _ => false,
        }
    }

    /// Returns the keyword that begins the statement.
    fn header(&self, index: usize) -> usize {
        let first = self.first(index, &[";"]);
        if self.text(first) == "async" { first + 1 } else { first }
    }

    fn block(&self) -> String {
        let header = self.header(self.here.saturating_sub(1));
        let what = match self.text(header) {
            "def" => "function definition".to_owned(),
            "class" => "class definition".to_owned(),
            "except" if self.text(header + 1) == "*" => "'except*' statement".to_owned(),
            word => format!("'{word}' statement"),
        };
        format!("expected an indented block after {what} on line {}", self.tokens.line(self.at(header)))
    }

    fn newer(&self, newer: &Newer) -> Diagnosis {
        let at = self.at(self.here);
        match newer {
            Newer::UnparenthesizedExceptionTypes => said("multiple exception types must be parenthesized", at),
            Newer::UnpackingInComprehension(_) if self.text(self.here) == "**" => {
                said("dict unpacking cannot be used in dict comprehension", at)
            }
            Newer::UnpackingInComprehension(_) => said("iterable unpacking cannot be used in comprehension", at),
            Newer::TypeParameterList if self.back(2) == "def" => said("expected '('", at),
            Newer::TypeAliasStatement => said("invalid syntax", self.at(self.here + 1)),
            _ => None,
        }
    }

    fn parse_fault(&self, fault: &Fault, start: usize, end: usize) -> Diagnosis {
        let at = self.at(self.here);
        let name = || name_of(self.source.get(start..end)?);
        match fault {
            Fault::InvalidAssignmentTarget => self.target(start, end),
            Fault::InvalidNamedAssignmentTarget => {
                said(format!("cannot use assignment expressions with {}", name()?), at)
            }
            Fault::InvalidAugmentedAssignmentTarget => {
                said(format!("'{}' is an illegal expression for augmented assignment", name()?), at)
            }
            Fault::InvalidAnnotatedAssignmentTarget if self.text(self.here) == "lambda" => {
                said("Lambda expression parameters cannot be parenthesized", self.at(self.here + 1))
            }
            Fault::InvalidAnnotatedAssignmentTarget => said("illegal target for annotation", at),
            Fault::InvalidDeleteTarget => said(format!("cannot delete {}", name()?), at),
            Fault::PositionalAfterKeywordArgument | Fault::PositionalAfterKeywordUnpacking => {
                let unpacking = if *fault == Fault::PositionalAfterKeywordArgument { "" } else { " unpacking" };
                // CPython reports this after reading all arguments.
                let message = format!("positional argument follows keyword argument{unpacking}");
                said(message, self.at(self.last(self.here, &[])))
            }
            Fault::InvalidArgumentUnpackingOrder => {
                said("iterable argument unpacking follows keyword argument unpacking", at)
            }
            Fault::UnparenthesizedGeneratorExpression => said("Generator expression must be parenthesized", at),
            Fault::NonDefaultParamAfterDefaultParam => said("non-default argument follows default argument", at),
            Fault::ParamAfterVarKeywordParam => said("arguments cannot follow var-keyword argument", at),
            Fault::ExpectedKeywordParam => {
                let star = (0..=self.here).rev().find(|i| self.text(*i) == "*").unwrap_or(self.here);
                said("named arguments must follow bare *", self.at(star))
            }
            Fault::VarParameterWithDefault => {
                let what = if self.back(2) == "**" { "keyword" } else { "positional" };
                said(format!("var-{what} argument cannot have default value"), at)
            }
            Fault::InvalidStarredExpressionUsage => match self.back(1) {
                "(" => said("cannot use starred expression here", at),
                ":" => said("cannot use a starred expression in a dictionary value", at),
                _ => None,
            },
            Fault::OtherError(text) => match text.as_str() {
                "Only one '/' separator allowed" => said("/ may appear only once", at),
                "Only one '*' parameter allowed" => said("* argument may appear only once", at),
                "Trailing comma not allowed" if self.text(self.first(self.here, &[";"])) == "from" => {
                    said("trailing comma not allowed without surrounding parentheses", self.at(self.here + 1))
                }
                "Expected a parameter name" => match self.text(self.here) {
                    word @ ("True" | "False" | "None") => said(format!("cannot assign to {word}"), at),
                    _ => said("expression cannot contain assignment, perhaps you meant \"==\"?", at),
                },
                other if other.starts_with("Only single target") => said(other.replace("Only", "only"), at),
                _ => self.surrounding_fault(None),
            },
            Fault::ExpectedToken { expected, .. } => self.surrounding_fault(Some(*expected)),
            _ => self.surrounding_fault(None),
        }
    }

    /// Applies the rules that depend only on the surrounding tokens.
    fn surrounding_fault(&self, expected: Option<TokenKind>) -> Diagnosis {
        let (here, at) = (self.here, self.at(self.here));
        let open = self.bracket(here);
        let defines = open.is_some_and(|open| self.is_definition(open));
        if matches!(self.back(1), "print" | "exec") && self.is_operand(here) {
            let word = self.back(1);
            let message = format!("Missing parentheses in call to '{word}'. Did you mean {word}(...)?");
            return said(message, self.at(here - 1));
        }
        if let Some(found) = self.comma() {
            return Some(found);
        }
        match (self.text(here), open.map(|open| self.text(open))) {
            ("=", _) => return self.equals(),
            ("not", _) => return said("invalid syntax", self.at(here + 1)),
            ("+=" | "-=" | "*=" | "/=", None) if self.text(self.first(here, &[","]).wrapping_sub(1)) == "," => {
                let message = "'tuple' is an illegal expression for augmented assignment";
                return said(message, self.at(self.first(here, &[";"])));
            }
            ("}" | ",", Some("{")) if self.back(1) == ":" => {
                return said("expression expected after dictionary key and ':'", self.at(here - 1));
            }
            (")" | ",", Some("(")) if self.back(1) == "=" && defines => {
                return said("expected default value expression", self.at(here - 1));
            }
            ("**", Some("(")) if self.back(1) == "(" && !self.is_operand_end(here.wrapping_sub(2)) => {
                return said("cannot use double starred expression here", at);
            }
            ("(", Some("(")) if defines => {
                return said("Function parameters cannot be parenthesized", at);
            }
            ("for", Some("[" | "{")) if self.text(self.first(here, &[","]).wrapping_sub(1)) == "," => {
                let first = open.map_or(here, |open| open + 1);
                return said("did you forget parentheses around the comprehension target?", self.at(first));
            }
            ("for", Some("(")) => {
                let name = self.first(here, &["="]).checked_sub(2).filter(|name| self.text(name + 1) == "=")?;
                return said(MAYBE, self.at(name));
            }
            _ => {}
        }
        match expected? {
            TokenKind::Else if self.text(here) != ":" => {
                let condition = self.first(here, &["if"]).checked_sub(1)?;
                said("expected 'else' after 'if' expression", self.at(self.first(condition, OPERAND_STOPS)))
            }
            TokenKind::Lpar if self.back(2) == "def" => said("expected '('", at),
            TokenKind::Colon | TokenKind::Comma
                if open.is_some_and(|open| self.text(open) == "{") && self.is_operand_end(here - 1) =>
            {
                let last = self.tokens.all.get(here.checked_sub(1)?)?;
                said("':' expected after dictionary key", last.end.saturating_sub(1))
            }
            TokenKind::Colon if open.is_none() && self.first(here, &["lambda"]) == self.first(here, &[";"]) => {
                let header = self.text(self.header(here));
                let forced = matches!(header, "def" | "else" | "try" | "finally");
                if forced || self.kind(here) == TokenClass::Newline { said("expected ':'", at) } else { None }
            }
            _ => None,
        }
    }

    /// The rule for two adjacent expressions inside brackets.
    fn comma(&self) -> Diagnosis {
        let (here, open) = (self.here, self.bracket(self.here)?);
        let first = self.first(here, OPERAND_STOPS);
        let before = self.text(first.checked_sub(1)?);
        let imports = open.checked_sub(1).is_some_and(|word| self.text(word) == "import");
        let never = [
            !self.is_operand_end(here.checked_sub(1)?) || !self.is_operand(here) || imports || first == here,
            self.kind(first) == TokenClass::Name && self.kind(first + 1) == TokenClass::Text,
            matches!(before, "in" | "lambda" | "as") || self.is_definition(open) && !matches!(before, ":" | "="),
            before == "if" && self.text(self.first(here, &["for"]).wrapping_sub(1)) == "for",
            before == "," && self.text(open) == "{" && self.text(self.last(open + 1, &[":"])) == ":",
            // CPython treats a prefix of a soft keyword like the keyword.
            ["_", "case", "match", "print", "exec"].iter().any(|word| word.starts_with(self.text(first))),
        ];
        if never.contains(&true) { None } else { said("invalid syntax. Perhaps you forgot a comma?", self.at(first)) }
    }

    /// The rule for `=` where only an expression is allowed.
    fn equals(&self) -> Diagnosis {
        let first = self.first(self.here, &[",", "if", "elif", "while", ":", "=", ":="]);
        let before = self.text(first.checked_sub(1)?);
        if !matches!(before, "(" | "[" | "{" | "," | "if" | "elif" | "while") || !self.is_compared(self.here) {
            return None;
        }
        let target = self.source.get(self.at(first)..self.at(self.here))?;
        let at = self.at(first);
        match parse_expression(target).ok()?.expr() {
            Expr::Name(_) => said(MAYBE, at),
            target if is_operand(target) => said(format!("cannot assign to {} here. {INSTEAD}", name(target)), at),
            _ => None,
        }
    }

    /// Returns whether an operand follows `=`, without another `=` after it.
    fn is_compared(&self, equals: usize) -> bool {
        let stops = [",", ":", "=", ":=", "<", ">", "==", "and", "or", "if", "for", ";"];
        !matches!(self.text(equals + 1), "yield" | "lambda" | "not" | "*" | "" | ")" | "]" | "}")
            && !matches!(self.text(self.last(equals + 1, &stops)), "=" | ":=")
    }

    /// The rules for the target of an assignment, `for` or `with`.
    fn target(&self, start: usize, end: usize) -> Diagnosis {
        let at = self.at(self.here);
        let text = self.source.get(start..end)?;
        let parsed = match parse_expression(text) {
            Ok(parsed) => parsed,
            Err(error) => return said("invalid syntax", start + error.location.start().to_usize()),
        };
        let target = parsed.expr();
        let behind = self.tokens.all.iter().position(|token| token.start >= end)?;
        if self.back(1) == "(" && self.back(2) == "for" && target.is_compare_expr() {
            return said("invalid syntax", self.at(behind + 1));
        }
        let statement = self.first(self.here, &[";", ":", "="]);
        let leads = self.bracket(self.here).is_none()
            && statement.checked_sub(1).is_none_or(|before| self.text(before) != "=")
            && self.text(statement) != "for"
            && self.text(statement) != "with";
        let equals = self.last(behind, &["="]);
        if leads && behind + 2 == equals && self.kind(behind + 1) == TokenClass::Name && self.is_compared(equals) {
            return said(MAYBE, self.at(behind + 1));
        }
        if leads && self.text(behind) == "=" && self.is_compared(behind) && is_operand(target) {
            return said(format!("cannot assign to {} here. {INSTEAD}", name(target)), at);
        }
        said(format!("cannot assign to {}", name(target)), at)
    }
}

const MAYBE: &str = "invalid syntax. Maybe you meant '==' or ':=' instead of '='?";
const INSTEAD: &str = "Maybe you meant '==' instead of '='?";

/// Tokens that may precede an operand without belonging to it.
const OPERAND_STOPS: &[&str] = &[
    ",", ":", "=", ":=", ";", "->", "if", "elif", "else", "while", "for", "lambda", "return", "yield", "from",
    "assert", "del", "raise", "import", "as", "with", "async",
];

/// Returns whether CPython suggests `==` for this left-hand side.
fn is_operand(target: &Expr) -> bool {
    !matches!(
        target,
        Expr::Compare(_)
            | Expr::BoolOp(_)
            | Expr::If(_)
            | Expr::Lambda(_)
            | Expr::Yield(_)
            | Expr::YieldFrom(_)
            | Expr::List(_)
            | Expr::Tuple(_)
            | Expr::Generator(_)
            | Expr::BooleanLiteral(_)
            | Expr::NoneLiteral(_)
            | Expr::Starred(_)
    ) && !target.as_unary_op_expr().is_some_and(|unary| unary.op.is_not())
}

fn name_of(text: &str) -> Option<&'static str> {
    parse_expression(text).ok().map(|parsed: Parsed<ModExpression>| name(parsed.expr()))
}

fn name(expression: &Expr) -> &'static str {
    match expression {
        Expr::Attribute(_) => "attribute",
        Expr::Subscript(_) => "subscript",
        Expr::Starred(_) => "starred",
        Expr::Name(_) => "name",
        Expr::List(_) => "list",
        Expr::Tuple(_) => "tuple",
        Expr::Lambda(_) => "lambda",
        Expr::Call(_) => "function call",
        Expr::Generator(_) => "generator expression",
        Expr::Yield(_) | Expr::YieldFrom(_) => "yield expression",
        Expr::Await(_) => "await expression",
        Expr::ListComp(_) => "list comprehension",
        Expr::SetComp(_) => "set comprehension",
        Expr::DictComp(_) => "dict comprehension",
        Expr::Dict(_) => "dict literal",
        Expr::Set(_) => "set display",
        Expr::FString(_) => "f-string expression",
        Expr::NoneLiteral(_) => "None",
        Expr::BooleanLiteral(literal) => {
            if literal.value {
                "True"
            } else {
                "False"
            }
        }
        Expr::EllipsisLiteral(_) => "ellipsis",
        Expr::StringLiteral(_) | Expr::BytesLiteral(_) | Expr::NumberLiteral(_) => "literal",
        Expr::Compare(_) => "comparison",
        Expr::If(_) => "conditional expression",
        Expr::Named(_) => "named expression",
        _ => "expression",
    }
}

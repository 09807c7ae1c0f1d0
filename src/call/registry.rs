//! The function table by name. A typical input uses a few of two thousand functions, so a signature is parsed only when
//! its name is first looked up. The first prompt and short scripts do not wait for the rest.

use super::bind::{self, Arguments, Bound, Parser};
use super::builtins;
use super::signature::{Kind, Param, Signature, name_in};
use super::{BELOW, Role, Row, State};
use autograd::{Recorded, Rule};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::OnceLock;
use tensor::Result;
use value::{Keywords, Value};

/// A row with its parsed signature.
#[derive(Clone)]
pub struct Function {
    pub signature: Signature,
    pub row: &'static Row,
}

impl Function {
    /// Returns the key under which rules, derivatives and refusals list the function. An alias has the key of its row,
    /// and the inner part of a function written in Python that of the whole function.
    pub fn key(&self) -> &'static str {
        let key = self.row.alias_of.unwrap_or(self.signature.key);
        key.strip_prefix("_VF.").unwrap_or(key)
    }

    /// Returns how a call is recorded. A function without a tensor in its result is not.
    pub(crate) fn recorded(&self) -> Recorded {
        match self.row.recorded {
            Recorded::ByKey if !self.signature.may_return_tensor() => Recorded::Never,
            recorded => recorded,
        }
    }

    /// Returns the rule by which a call with these arguments is recorded.
    pub fn rule(&self, args: &[Value]) -> Rule {
        autograd::rule(self.key(), self.recorded(), args, false)
    }
}

/// All overloads of one name for one kind of receiver, in the order in which PyTorch tries them.
pub struct Overloads {
    pub name: &'static str,
    pub functions: Vec<Function>,
    /// Whether the first parameter is the receiver.
    pub method: bool,
    pub parser: Parser,
}

impl Overloads {
    /// Returns whether these are methods whose arguments are parsed by PyTorch instead of Python.
    pub fn is_parsed_by_torch(&self) -> bool {
        self.method && !matches!(self.parser, Parser::Python(_))
    }

    /// Returns whether these are functions without a receiver whose arguments are parsed by PyTorch.
    pub fn are_functions_of_torch(&self) -> bool {
        !self.method && matches!(self.parser, Parser::Torch)
    }

    /// Returns whether a map after `given` arguments can only be the next argument, and not keywords. That is so if
    /// every overload still requires a value of any class there, and no overload has a parameter for every key.
    pub fn takes_map<'k>(&self, given: usize, keys: impl Iterator<Item = &'k str> + Clone) -> bool {
        let needs = |signature: &Signature| {
            let next = signature.params.get(given).filter(|_| given < signature.positional);
            next.is_some_and(|param| param.default.is_none() && matches!(param.kind, Kind::Any))
                && !keys.clone().all(|key| signature.params.iter().any(|param| param.name == key))
        };
        !self.functions.is_empty() && self.functions.iter().all(|function| needs(&function.signature))
    }

    /// Binds the arguments to the first signature that fits, and returns its index.
    ///
    /// # Errors
    /// TypeError in PyTorch's words if none fits.
    pub fn bind(&self, receiver: Option<&Value>, arguments: &Arguments, bound: &mut Bound) -> Result<usize> {
        let signatures = self.functions.iter().map(|function| &function.signature);
        let chosen = bind::bind(self.name, signatures, receiver, self.parser, arguments, bound)?;
        Ok(self.in_own_order(chosen, bound))
    }

    /// Reorders arguments that were given in a deprecated order. Returns the index of the row's own signature.
    fn in_own_order(&self, chosen: usize, bound: &mut Bound) -> usize {
        let Some(signature) = self.functions.get(chosen).map(|function| &function.signature) else { return chosen };
        let places = &signature.places;
        if places.is_empty() {
            return chosen;
        }
        let is_own =
            |function: &Function| function.signature.places.is_empty() && function.signature.key == signature.key;
        let Some(own) = self.functions.iter().position(is_own) else { return chosen };
        let given = std::mem::take(bound);
        for (i, param) in
            self.functions.iter().skip(own).take(1).flat_map(|function| &function.signature.params).enumerate()
        {
            let value = places.iter().position(|place| *place == i).and_then(|from| given.get(from).cloned());
            bound.push(value.or_else(|| param.default.map(|default| default.to_value())).unwrap_or(Value::None));
        }
        own
    }
}

/// The receiver on which a name is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Receiver {
    /// A value of the class that this kind of parameter accepts.
    Class(Kind),
    /// A module: `torch` is "", the others carry their name.
    Module(&'static str),
}

/// All functions and methods of one name.
pub struct Family {
    pub name: &'static str,
    /// There are few, so a linear search is faster than a hash.
    members: Vec<(Receiver, Overloads)>,
}

impl Family {
    /// Returns the overloads for a receiver.
    pub fn find(&self, receiver: Receiver) -> Option<&Overloads> {
        self.members.iter().find(|(r, _)| *r == receiver).map(|(_, overloads)| overloads)
    }

    /// Returns the maximum number of values that a call usually passes. It counts the receiver or module, and all
    /// keywords together as one.
    pub fn most_arguments(&self) -> usize {
        let counts = self.members.iter().flat_map(|(_, overloads)| &overloads.functions).map(|function| {
            let signature = &function.signature;
            // A list of sizes is usually spread.
            let spread = signature.params.iter().any(|p| matches!(p.kind, Kind::Ints(_) | Kind::Rest));
            signature.positional + if spread { 5 } else { 2 }
        });
        counts.max().unwrap_or_default()
    }

    /// Returns whether a call of the bare name differs from a method call on the same arguments: `where(c, a, b)` is
    /// not `c.where(a, b)`, and `float(x)` is a number, but `x.float()` a tensor.
    pub fn is_another_bare(&self) -> bool {
        let torch = self.find(Receiver::Module(""));
        let has_methods = |kind| self.find(Receiver::Class(kind)).is_some();
        match torch {
            Some(torch) => {
                let leads_elsewhere = |function: &Function| {
                    let first = function.signature.params.first();
                    function.row.role != Role::Both
                        && first.is_some_and(|first| {
                            first.name != "self" && matches!(first.kind, Kind::Tensor | Kind::Any | Kind::Operand)
                        })
                };
                has_methods(Kind::Tensor) && torch.functions.iter().any(leads_elsewhere)
            }
            None => {
                self.find(Receiver::Module("py")).is_some()
                    && [Kind::Tensor, Kind::UntypedStorage, Kind::TypedStorage].into_iter().any(has_methods)
                    && !self.name.starts_with("__")
            }
        }
    }

    /// Iterates over all receivers and their overloads.
    pub fn members(&self) -> impl Iterator<Item = &(Receiver, Overloads)> {
        self.members.iter()
    }
}

/// The function table, by name.
pub struct Registry {
    names: FxHashMap<&'static str, Entry>,
    /// Calls a value. Rooms below use it to call functions they are given.
    pub call: CallValue,
    pub methods: Methods,
    pub outside: Outside,
}

/// Creates an object of a class from its arguments; `None` for an unknown class.
pub type Construct = fn(&State, &'static str, &[Value], &Keywords) -> Option<Result<Value>>;

/// Members of modules that are not rows, and classes whose objects rows do not make: those of the rooms above.
pub struct Outside {
    /// Returns a member of a module; `None` if it has no such member.
    pub member: fn(&State, &'static str, &str) -> Result<Option<Value>>,
    /// Creates an object of a class; `None` for any other class.
    pub construct: Construct,
    /// Returns the names of a module's members.
    pub names: fn(&'static str) -> Vec<&'static str>,
}

/// The methods of Python's own classes, for rooms below their tables.
pub struct Methods {
    /// Calls `receiver.name(*args, **keywords)`. Returns `None` if there is no such method.
    pub call: CallMethod,
    /// Returns a method as a value.
    pub find: fn(&Value, &str) -> Option<Value>,
    /// Returns the names of a class's methods.
    pub names: fn(&str) -> Vec<&'static str>,
}

type CallMethod = fn(&State, &Value, &str, &[Value], &Keywords) -> Option<Result<Value>>;

/// Calls a function, a method, a class or an object.
pub type CallValue = fn(&State, &Value, Vec<Value>, Keywords) -> Result<Value>;

/// All rows of one name in the table's order, and their parsed form once the name was looked up. Kept small, because
/// there are thousands of entries and a session looks up a few.
#[derive(Default)]
struct Entry {
    rows: SmallVec<[&'static Row; 2]>,
    parsed: OnceLock<Box<Named>>,
}

impl Entry {
    fn parsed(&self) -> &Named {
        self.parsed.get_or_init(|| Box::new(Named::parse(&self.rows)))
    }
}

/// The parsed rows of one name.
#[derive(Default)]
struct Named {
    family: Option<Family>,
    attributes: Vec<(Kind, Function)>,
    setters: Vec<(Kind, Function)>,
    /// The functions on tensors, by key.
    keys: Vec<(&'static str, Function)>,
}

/// Splits a function's path into its module and its bare name.
fn split(path: &str) -> (&str, &str) {
    let last = |wanted| path.bytes().rposition(|byte| byte == wanted);
    match (last(b':'), last(b'.')) {
        (Some(colon), _) => {
            (path.get(..colon.saturating_sub(1)).unwrap_or_default(), path.get(colon + 1..).unwrap_or_default())
        }
        (None, Some(dot)) => (path.get(..dot).unwrap_or_default(), path.get(dot + 1..).unwrap_or_default()),
        (None, None) => ("", path),
    }
}

/// Returns the bare name in an overload's key or schema.
pub fn bare_name(key: &str) -> &str {
    let end = key.bytes().position(|byte| matches!(byte, b'(' | b'.' | b':'));
    match end.and_then(|end| Some((end, key.as_bytes().get(end)?))) {
        None => key,
        // Every start asks this for thousands of keys, and most are bare names.
        Some((end, b'(')) => key.get(..end).unwrap_or_default(),
        Some(_) => split(name_in(key.split('(').next().unwrap_or_default())).1,
    }
}

/// The attributes of one name, with the class of each.
pub type Attributes = [(Kind, Function)];

/// Returns the attribute of a class among the attributes of one name.
#[inline]
pub fn of_class(attributes: &Attributes, kind: Kind) -> Option<&Function> {
    attributes.iter().find(|(known, _)| *known == kind).map(|(_, function)| function)
}

impl Registry {
    /// Groups rows by name.
    pub fn new(
        rows: impl Iterator<Item = &'static Row>,
        call: CallValue,
        methods: Methods,
        outside: Outside,
    ) -> Registry {
        let mut names: FxHashMap<&'static str, Entry> = FxHashMap::default();
        for row in rows {
            names.entry(bare_name(row.signature)).or_default().rows.push(row);
        }
        Registry { names, call, methods, outside }
    }

    fn named(&self, name: &str) -> Option<&Named> {
        self.names.get(name).map(Entry::parsed)
    }

    fn all(&self) -> impl Iterator<Item = (&'static str, &Named)> {
        self.names.iter().map(|(name, entry)| (*name, entry.parsed()))
    }

    /// Returns the overloads of `name` for a receiver.
    pub fn find(&self, name: &str, receiver: Receiver) -> Option<&Overloads> {
        self.family(name)?.find(receiver)
    }

    /// Returns the function of an overload: the first row with that key.
    pub fn overload(&self, key: &str) -> Option<&Function> {
        let named = self.named(bare_name(key))?;
        named.keys.iter().find(|(known, _)| *known == key).map(|(_, function)| function)
    }

    /// Iterates over the functions on tensors, one for each overload.
    pub fn overloads(&self) -> impl Iterator<Item = &Function> {
        self.all().flat_map(|(_, named)| named.keys.iter().map(|(_, function)| function))
    }

    /// Returns the overload that takes dimensions by position, for one that takes them by name.
    pub fn by_position(&self, by_name: &Signature) -> Option<&Function> {
        let is_same = |named: &Param, placed: &Param| {
            named.name == placed.name
                && match named.kind {
                    Kind::Name => placed.kind == Kind::Int,
                    Kind::Names { .. } => matches!(placed.kind, Kind::Ints(_)),
                    kind => kind == placed.kind,
                }
        };
        let mut overloads = self.named(bare_name(by_name.key))?.keys.iter().map(|(_, function)| function);
        overloads.find(|function| {
            let params = &function.signature.params;
            function.signature.name == by_name.name
                && by_name.params.iter().all(|named| params.iter().any(|placed| is_same(named, placed)))
        })
    }

    /// Returns all functions and methods of a name.
    pub fn family(&self, name: &str) -> Option<&Family> {
        self.named(name)?.family.as_ref()
    }

    /// Returns whether there is a function or method of this name.
    pub fn is_callable(&self, name: &str) -> bool {
        self.family(name).is_some()
    }

    pub fn attribute(&self, name: &str, kind: Kind) -> Option<&Function> {
        of_class(self.attributes_of(name), kind)
    }

    /// Returns the attributes of this name, with the class of each.
    pub fn attributes_of(&self, name: &str) -> &Attributes {
        self.named(name).map_or(&[], |named| named.attributes.as_slice())
    }

    /// Returns those attributes that can be read without looking for anything else first.
    pub fn plain_attributes_of(&self, name: &str) -> &Attributes {
        if name.starts_with("__") { &[] } else { self.attributes_of(name) }
    }

    pub fn setter(&self, name: &str, kind: Kind) -> Option<&Function> {
        self.named(name)?.setters.iter().find(|(k, _)| *k == kind).map(|(_, f)| f)
    }

    pub fn families(&self) -> impl Iterator<Item = &Family> {
        self.all().filter_map(|(_, named)| named.family.as_ref())
    }

    /// Lists every name of `receiver`, for suggestions and completion.
    pub fn names(&self, receiver: Receiver) -> Vec<&'static str> {
        let answers = |named: &Named| {
            named.family.as_ref().is_some_and(|family| family.find(receiver).is_some())
                || named.attributes.iter().any(|(kind, _)| Receiver::Class(*kind) == receiver)
        };
        self.all().filter(|(_, named)| answers(named)).map(|(name, _)| name).collect()
    }
}

impl Named {
    /// Parses the rows of one name. Malformed rows are left out; a test fails on them.
    fn parse(rows: &[&'static Row]) -> Named {
        let mut named = Named::default();
        for row in rows {
            if let Some(signature) = Signature::parse(row.signature) {
                named.add(Function { signature, row });
            }
        }
        named
    }

    fn add(&mut self, function: Function) {
        let signature = &function.signature;
        // Formulas and composite functions call functions on tensors by key.
        let of_tensors = match signature.receiver() {
            None | Some(Kind::Tensor) => true,
            // A function whose first operand is a number, and the second a tensor.
            Some(Kind::Number) => function.row.role == Role::Function,
            Some(_) => false,
        };
        let key = signature.key.strip_prefix("_VF.").unwrap_or(signature.key);
        if function.row.role != Role::Setter && of_tensors && !self.keys.iter().any(|(known, _)| *known == key) {
            self.keys.push((key, function.clone()));
        }
        let (module, name) = split(signature.name);
        let role = function.row.role;
        if module == BELOW {
            self.insert(name, Receiver::Module(BELOW), function, role == Role::Method);
            return;
        }
        if let (Role::Attribute | Role::Setter, Some(kind)) = (role, signature.receiver()) {
            let table = if role == Role::Setter { &mut self.setters } else { &mut self.attributes };
            table.push((kind, function));
            return;
        }
        if let (Role::Method | Role::Both, Some(kind)) = (role, signature.receiver()) {
            let mut method = function.clone();
            // Of PyTorch's, only functions have `out=`.
            if kind != Kind::Array {
                method.signature.params.retain(|param| param.name != "out");
            }
            self.insert(name, Receiver::Class(kind), method, true);
        }
        if let Role::Function | Role::Both | Role::Static = role {
            self.insert(name, Receiver::Module(module), function, false);
        }
    }

    fn insert(&mut self, name: &'static str, receiver: Receiver, mut function: Function, method: bool) {
        let shown = function.row.shown.unwrap_or(name);
        if function.row.shown.is_some() {
            function.signature.name = shown;
        }
        let parser = match function.row.python {
            Some(path) => Parser::Python(path),
            None if method && function.signature.visible(true).is_empty() => Parser::NoArguments,
            None if builtins::knows(function.signature.name) => Parser::Builtin,
            None => Parser::Torch,
        };
        let orders = function.row.orders.iter().map(|order| function.signature.reordered(order, method));
        let deprecated: Vec<Function> = orders.map(|signature| Function { signature, ..function.clone() }).collect();
        let family = self.family.get_or_insert_with(|| Family { name, members: Vec::new() });
        match family.members.iter_mut().find(|(r, _)| *r == receiver) {
            Some((_, overloads)) => overloads.functions.extend(std::iter::once(function).chain(deprecated)),
            None => {
                let functions = std::iter::once(function).chain(deprecated).collect();
                family.members.push((receiver, Overloads { name: shown, functions, method, parser }))
            }
        }
    }
}

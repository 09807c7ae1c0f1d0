//! The vocabulary of the function table: what a row is, and how it is reached.

use super::Call;
use super::facets::{Dispatch, NameInference, Names, Out};
use super::signature::name_in;
use tensor::Result;
use value::Value;

/// What a row's function looks like: bound arguments in, value out.
pub type Run = fn(&mut Call) -> Result<Value>;

/// One overload of one function, and everything there is to say about it but its derivative.
#[derive(Clone, Copy)]
pub struct Row {
    pub signature: &'static str,
    pub run: Run,
    pub doc: &'static str,
    pub role: Role,
    /// Deprecated orders of arguments, still accepted but not listed in messages: their names.
    pub orders: &'static [&'static str],
    /// The name that messages show, where it is not the one called: all legacy constructors say `new`.
    pub shown: Option<&'static str>,
    /// The qualified name in Python, for functions PyTorch writes in Python; decides the words of argument errors.
    pub python: Option<&'static str>,
    /// Other names for the same function: a name alone, or a schema with the same parameters in the same places.
    pub aliases: &'static [&'static str],
    /// Its overload that takes names of dimensions for their numbers: what its key ends with, and its function.
    pub by_name: Option<(&'static str, Run)>,
    /// The key of the row that this one is another name for.
    pub alias_of: Option<&'static str>,
    /// The operation that PyTorch calls for it, where it is another.
    pub operation: Option<&'static str>,
    /// What it does with the names of dimensions.
    pub names: Names,
    /// What it does with sparse tensors.
    pub sparse: Dispatch,
    /// What it does with quantized tensors.
    pub quantized: Dispatch,
    /// What it takes as `out=`.
    pub out: Out,
}

/// How a row is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// `x.f()` only.
    Method,
    /// `torch.f()` and bare `f()` only.
    Function,
    /// `x.f()`, `torch.f(x)` and `f(x)`.
    Both,
    /// `x.f` without parentheses.
    Attribute,
    /// `x.f = value`.
    Setter,
    /// `torch.UntypedStorage.f()`: through the class before the `::` of the signature.
    Static,
    /// By its key alone: a part that other functions are made of.
    Internal,
}

/// A row that is reached in this way.
pub const fn row(signature: &'static str, run: Run, doc: &'static str, role: Role) -> Row {
    Row {
        signature,
        run,
        doc,
        role,
        orders: &[],
        shown: None,
        python: None,
        aliases: &[],
        by_name: None,
        alias_of: None,
        operation: None,
        names: Names::UNSUPPORTED,
        sparse: Dispatch::Missing,
        quantized: Dispatch::Missing,
        out: Out::PLAIN,
    }
}

pub const fn method(signature: &'static str, run: Run, doc: &'static str) -> Row {
    row(signature, run, doc, Role::Method)
}

pub const fn function(signature: &'static str, run: Run, doc: &'static str) -> Row {
    row(signature, run, doc, Role::Function)
}

pub const fn both(signature: &'static str, run: Run, doc: &'static str) -> Row {
    row(signature, run, doc, Role::Both)
}

pub const fn attribute(signature: &'static str, run: Run, doc: &'static str) -> Row {
    row(signature, run, doc, Role::Attribute)
}

pub const fn setter(signature: &'static str, run: Run, doc: &'static str) -> Row {
    row(signature, run, doc, Role::Setter)
}

pub const fn class_method(signature: &'static str, run: Run, doc: &'static str) -> Row {
    row(signature, run, doc, Role::Static)
}

pub const fn internal(signature: &'static str, run: Run, doc: &'static str) -> Row {
    row(signature, run, doc, Role::Internal)
}

impl Row {
    /// Marks a function that is written in Python there, under this qualified name.
    pub const fn python(self, path: &'static str) -> Row {
        Row { python: Some(path), ..self }
    }

    /// Gives the row another name in messages.
    pub const fn shown_as(self, name: &'static str) -> Row {
        Row { shown: Some(name), ..self }
    }

    /// Accepts deprecated orders of the arguments, too: each the names of parameters, all of them required.
    pub const fn orders(self, orders: &'static [&'static str]) -> Row {
        Row { orders, ..self }
    }

    /// The row once more for each of its other names.
    ///
    /// Their signatures are never given back: the table lives as long as the process, and makes them once.
    pub fn under_aliases(&self) -> impl Iterator<Item = Row> {
        let (key, parameters) = self.signature.split_at(self.signature.find('(').unwrap_or_default());
        let overload = &key[name_in(key).len()..];
        self.aliases.iter().map(move |alias| {
            let (name, schema) = match alias.split_once('(') {
                Some((key, _)) => (name_in(key), (*alias).to_string()),
                None => (*alias, format!("{alias}{overload}{parameters}")),
            };
            Row {
                signature: schema.leak(),
                role: if name.contains('.') { Role::Function } else { self.role },
                aliases: &[],
                by_name: None,
                orders: &[],
                alias_of: Some(key),
                ..*self
            }
        })
    }

    /// The row once more with names in the places of dimensions, `transpose.Dimname(Tensor(a) self, Dimname dim0, Dimname dim1)`
    /// of `transpose.int`. A name has no default, and what the function does with names or layouts is not inherited.
    ///
    /// Its signature is never given back, like those of [`Row::under_aliases`].
    pub fn under_names(&self) -> Option<Row> {
        let (overload, run) = self.by_name?;
        let (key, parameters) = self.signature.split_once('(')?;
        let (parameters, result) = parameters.rsplit_once(") ->")?;
        let named = |parameter: &str| {
            let (class, name) = parameter.split_once(' ')?;
            let name = name.split('=').next().filter(|name| ["dim", "dim0", "dim1"].contains(name))?;
            class.starts_with("int").then(|| format!("Dimname{} {name}", if class.contains('[') { "[1]" } else { "" }))
        };
        let parameters: Vec<String> =
            parameters.split(", ").map(|parameter| named(parameter).unwrap_or_else(|| parameter.to_owned())).collect();
        let schema = format!("{}.{overload}({}) ->{result}", name_in(key), parameters.join(", "));
        Some(Row { out: self.out, ..row(schema.leak(), run, self.doc, self.role) })
    }

    /// Says which overload takes names of dimensions for their numbers, and what it does.
    pub const fn by_name(self, overload: &'static str, run: Run) -> Row {
        Row { by_name: Some((overload, run)), ..self }
    }

    /// Says what becomes of the names of dimensions.
    pub const fn names(self, inference: NameInference) -> Row {
        Row { names: Names { inference, ..self.names }, ..self }
    }

    /// Names the operation that PyTorch calls for the function, where it is another: refusals speak of it.
    pub const fn operation(self, operation: &'static str) -> Row {
        Row { operation: Some(operation), ..self }
    }

    /// Gives the row other names, which mean the same: `absolute` for `abs`, `clip` for every overload of `clamp`. One with
    /// a module is a function there. A schema says how its overloads differ: `rsub` of a number takes `alpha` by its place.
    pub const fn aliases(self, aliases: &'static [&'static str]) -> Row {
        Row { aliases, ..self }
    }

    /// Names the operation that refuses tensors with names in a call with `out=`.
    pub const fn out_refused_as(self, operation: &'static str) -> Row {
        Row { names: Names { out_refused_as: Some(operation), ..self.names }, ..self }
    }

    /// Names the operation that refuses tensors with names where the call gives several dimensions.
    pub const fn several_refused_as(self, operation: &'static str) -> Row {
        Row { names: Names { several_refused_as: Some(operation), ..self.names }, ..self }
    }

    /// Names the operation that refuses complex tensors with names.
    pub const fn complex_refused_as(self, operation: &'static str) -> Row {
        Row { names: Names { complex_refused_as: Some(operation), ..self.names }, ..self }
    }

    /// Names the operation that refuses tensors with names of fewer dimensions than `ndim`.
    pub const fn few_refused_as(self, ndim: usize, operation: &'static str) -> Row {
        Row { names: Names { few_refused_as: Some((ndim, operation)), ..self.names }, ..self }
    }

    /// Has the function check its other arguments before it refuses tensors with names.
    pub const fn checks_first(self) -> Row {
        Row { names: Names { checks_first: true, ..self.names }, ..self }
    }

    /// Says what the function does with sparse tensors.
    pub const fn sparse(self, dispatch: Dispatch) -> Row {
        Row { sparse: dispatch, ..self }
    }

    /// Says what the function does with quantized tensors.
    pub const fn quantized(self, dispatch: Dispatch) -> Row {
        Row { quantized: dispatch, ..self }
    }

    /// Says what the function takes as `out=`.
    pub const fn out(self, out: Out) -> Row {
        Row { out, ..self }
    }

    /// Says that the function takes tensors of any layout as they are.
    pub const fn any_layout(self) -> Row {
        self.sparse(Dispatch::AsIs).quantized(Dispatch::AsIs)
    }
}

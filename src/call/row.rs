//! The vocabulary of the function table: the parts of a row, and how a row is reached.

use super::Call;
use super::facets::{Dispatch, NameInference, Names, Out, RefusedBy};
use super::reads::Reads;
use super::signature::name_in;
use autograd::Recorded;
use tensor::Result;
use value::Value;

/// The function of a row. Its arguments are bound.
pub type Run = fn(&mut Call) -> Result<Value>;

/// One overload of one function, with everything about it except its derivative.
#[derive(Clone, Copy)]
pub struct Row {
    pub signature: &'static str,
    pub run: Run,
    pub doc: &'static str,
    pub role: Role,
    /// Deprecated orders of the arguments, as the names of parameters. They are accepted, but not listed in messages.
    pub orders: &'static [&'static str],
    /// The name in messages, if it is not the function's own: all legacy constructors are called `new`.
    pub shown: Option<&'static str>,
    /// The qualified name in Python, for functions that PyTorch writes in Python. It decides the words of argument
    /// errors.
    pub python: Option<&'static str>,
    /// Other names of the same function: a name alone, or a schema with the same parameters in the same places.
    pub aliases: &'static [&'static str],
    /// The overload that takes dimension names instead of positions: its overload name and its function.
    pub by_name: Option<(&'static str, Run)>,
    /// The documentation of the function that returns a copy of the view, if there is one.
    pub copied: Option<&'static str>,
    /// The method that makes the tensor itself show the view, if there is one.
    pub in_place: Option<InPlace>,
    /// The function of the row that this one follows from.
    pub base: Option<Run>,
    /// The key of the row that this one is an alias of.
    pub alias_of: Option<&'static str>,
    /// The operation that PyTorch calls for the function, if it is another one.
    pub operation: Option<&'static str>,
    /// How a call is recorded for gradients.
    pub recorded: Recorded,
    /// How the function handles dimension names.
    pub names: Names,
    /// How the function handles sparse tensors.
    pub sparse: Dispatch,
    /// How the function handles quantized tensors.
    pub quantized: Dispatch,
    /// Which outputs the function accepts as `out=`.
    pub out: Out,
    /// Which elements of the arguments an element of the result reads.
    pub reads: Reads,
}

/// The form of a view function that changes the view of the tensor itself.
#[derive(Clone, Copy)]
pub struct InPlace {
    pub key: &'static str,
    pub doc: &'static str,
    /// How it handles sparse tensors.
    pub sparse: Dispatch,
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
    /// `torch.UntypedStorage.f()`: on the class before the `::` of the signature.
    Static,
    /// By key only: a part of other functions.
    Internal,
}

/// Declares a row with a role.
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
        copied: None,
        in_place: None,
        base: None,
        alias_of: None,
        operation: None,
        recorded: Recorded::ByKey,
        names: Names::UNSUPPORTED,
        sparse: Dispatch::Missing,
        quantized: if is_view(signature) { Dispatch::Uniform } else { Dispatch::Missing },
        out: Out::PLAIN,
        reads: if is_view(signature) { Reads::Place } else { Reads::Unknown },
    }
}

/// Returns whether the result of a schema is a view, `Tensor(a)` or `Tensor(a)[]`.
const fn is_view(signature: &str) -> bool {
    const RESULT: &[u8] = b") -> Tensor(a)";
    let bytes = signature.as_bytes();
    let list = bytes.len() - if let [.., b'[', b']'] = bytes { 2 } else { 0 };
    let mut i = 0;
    while i < RESULT.len() && i < list {
        if bytes[list - 1 - i] != RESULT[RESULT.len() - 1 - i] {
            return false;
        }
        i += 1;
    }
    true
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
    /// Marks a function that PyTorch writes in Python, under this qualified name.
    pub const fn python(self, path: &'static str) -> Row {
        Row { python: Some(path), ..self }
    }

    /// Sets the name in messages.
    pub const fn shown_as(self, name: &'static str) -> Row {
        Row { shown: Some(name), ..self }
    }

    /// Also accepts deprecated orders of the arguments. Each lists the names of parameters, all of them required.
    pub const fn orders(self, orders: &'static [&'static str]) -> Row {
        Row { orders, ..self }
    }

    /// Returns a row for each alias.
    ///
    /// The signatures are leaked: the table lives as long as the process, and makes them once.
    pub(crate) fn under_aliases(&self) -> impl Iterator<Item = Row> {
        let (key, parameters) = self.signature.split_at(self.signature.find('(').unwrap_or_default());
        self.aliases.iter().map(move |alias| {
            let overload = &key[name_in(key).len()..];
            let (name, schema) = match alias.split_once('(') {
                Some((key, _)) => (name_in(key), (*alias).to_string()),
                None => (*alias, format!("{alias}{overload}{parameters}")),
            };
            Row {
                signature: schema.leak(),
                role: if name.contains('.') { Role::Function } else { self.role },
                aliases: &[],
                by_name: None,
                copied: None,
                in_place: None,
                orders: &[],
                alias_of: Some(key),
                ..*self
            }
        })
    }

    /// Returns the row with dimension names instead of positions. For `transpose.int`, that is
    /// `transpose.Dimname(Tensor(a) self, Dimname dim0, Dimname dim1)`. A name does not have a default. The facets for
    /// names and layouts are not inherited.
    ///
    /// The signature is leaked, like those of [`Row::under_aliases`].
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

    /// Adds a function that returns a copy of the view, with its documentation.
    pub const fn copied(self, doc: &'static str) -> Row {
        Row { copied: Some(doc), ..self }
    }

    /// Adds a method that changes the view of the tensor itself.
    pub const fn in_place(self, key: &'static str, doc: &'static str, sparse: Dispatch) -> Row {
        Row { in_place: Some(InPlace { key, doc, sparse }), ..self }
    }

    /// Records a call with the derivative of another overload, which takes the same arguments.
    pub const fn derivative_of(self, key: &'static str) -> Row {
        Row { recorded: Recorded::Like(key), ..self }
    }

    /// Never records a call. The result is not a differentiable function of the arguments, or keeps a history itself.
    pub const fn not_differentiable(self) -> Row {
        Row { recorded: Recorded::Never, ..self }
    }

    /// Records the functions of the table that the function calls, instead of the call itself.
    pub const fn recorded_in_steps(self) -> Row {
        Row { recorded: Recorded::InSteps, ..self }
    }

    /// Adds an overload that takes dimension names instead of positions.
    pub const fn by_name(self, overload: &'static str, run: Run) -> Row {
        Row { by_name: Some((overload, run)), ..self }
    }

    /// Sets how the function handles dimension names.
    pub const fn names(self, inference: NameInference) -> Row {
        Row { names: Names { inference, ..self.names }, ..self }
    }

    /// Sets the operation that PyTorch calls for the function, if it is another one. Refusals name it.
    pub const fn operation(self, operation: &'static str) -> Row {
        Row { operation: Some(operation), ..self }
    }

    /// Adds aliases: `absolute` for `abs`, `clip` for every overload of `clamp`. An alias with a module is a function
    /// there. A schema says how the overloads differ: `rsub` of a number takes `alpha` by position.
    pub const fn aliases(self, aliases: &'static [&'static str]) -> Row {
        Row { aliases, ..self }
    }

    /// Sets the operation that refuses named tensors in a call with `out=`.
    pub const fn out_refused_as(self, operation: &'static str) -> Row {
        Row { names: Names { out_refused_as: Some(operation), ..self.names }, ..self }
    }

    /// Sets the operation that refuses named tensors in a call with several dimensions.
    pub const fn several_refused_as(self, operation: &'static str) -> Row {
        Row { names: Names { several_refused_as: Some(operation), ..self.names }, ..self }
    }

    /// Sets the operation that refuses complex named tensors.
    pub const fn complex_refused_as(self, operation: &'static str) -> Row {
        Row { names: Names { complex_refused_as: Some(operation), ..self.names }, ..self }
    }

    /// Sets the operation that refuses named tensors with fewer dimensions than `ndim`.
    pub const fn few_refused_as(self, ndim: usize, operation: &'static str) -> Row {
        Row { names: Names { few_refused_as: Some((ndim, operation)), ..self.names }, ..self }
    }

    /// Makes the function check its other arguments before it refuses named tensors.
    pub const fn checks_first(self) -> Row {
        Row { names: Names { checks_first: true, ..self.names }, ..self }
    }

    /// Sets how the function handles sparse tensors.
    pub const fn sparse(self, dispatch: Dispatch) -> Row {
        Row { sparse: dispatch, ..self }
    }

    /// Sets how the function handles quantized tensors.
    pub const fn quantized(self, dispatch: Dispatch) -> Row {
        Row { quantized: dispatch, ..self }
    }

    /// Sets which outputs the function accepts as `out=`.
    pub const fn out(self, out: Out) -> Row {
        Row { out, ..self }
    }

    /// Sets which elements of the arguments an element of the result reads.
    pub const fn reads(self, reads: Reads) -> Row {
        Row { reads, ..self }
    }

    /// Sets the operation that refuses an output while gradients are recorded, if the function calls another one.
    pub const fn grad_refused_by(self, operation: &'static str) -> Row {
        Row { out: self.out.refused_by(RefusedBy::Operation(operation)), ..self }
    }

    /// Makes PyTorch's fallback refuse an output while gradients are recorded.
    pub const fn grad_refused_by_fallback(self) -> Row {
        Row { out: self.out.refused_by(RefusedBy::Fallback), ..self }
    }

    /// Lets the function take tensors of any layout as they are.
    pub const fn any_layout(self) -> Row {
        self.sparse(Dispatch::AsIs).quantized(Dispatch::AsIs)
    }
}

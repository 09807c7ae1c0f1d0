//! Calls. Rhai has no keyword arguments (they travel as a last object map), no unpacking (`__call__` takes an array
//! and a map) and does not call a variable (`call_` does).

use ruff_python_ast::{Arguments, Expr, ExprCall, Keyword};

use super::scope::{Known, Parameter, Role};
use super::{SyntaxFault, Translator, Written, names, start};

/// The engine has its functions up to this number of arguments; longer calls go through an array.
pub(super) const MAX_ARGUMENTS: usize = 8;

impl Translator<'_> {
    pub(super) fn call(&mut self, call: &ExprCall) -> Written {
        let arguments = &call.arguments;
        check_keywords(arguments)?;
        match call.func.as_ref() {
            Expr::Attribute(method) => {
                let name = &*self.mangled(method.attr.as_str());
                self.receiver(&method.value)?;
                self.out.push(".");
                self.out.mark(start(&method.attr));
                // Rhai would call a function of the script that goes by the name of the method.
                let is_taken = names::variable(name) == name && self.scope.lookup(name).is_some();
                if is_spread(arguments) || is_taken || names::is_captured_method(name) || !names::is_property(name) {
                    self.out.push("__call__(");
                    self.string(name);
                    self.out.push(", ");
                    self.spread(arguments)
                } else {
                    self.out.push(name);
                    self.plain(arguments)
                }
            }
            Expr::Name(name) => self.call_name(name.id.as_str(), call),
            callee => {
                self.out.push("call_(");
                self.expression(callee)?;
                self.call_value(arguments)
            }
        }
    }

    fn call_name(&mut self, name: &str, call: &ExprCall) -> Written {
        let arguments = &call.arguments;
        let spelled = names::variable(name);
        match self.scope.lookup(&spelled) {
            Some(Known::Function(parameters)) => match places(&parameters, arguments) {
                Some(places) => {
                    self.out.push(&spelled);
                    self.positional(&places)
                }
                None => {
                    self.out.push("call_(");
                    self.out.push(&spelled);
                    self.call_value(arguments)
                }
            },
            Some(Known::Variable | Known::Attribute) => {
                self.out.push("call_(");
                self.load(name);
                self.call_value(arguments)
            }
            _ => {
                // `print` is no variable in Rhai, but it is a function.
                let spelled = if name == "print" { name } else { &spelled };
                // `float(x)` is not `x.float()`, though Rhai would call the same function for both.
                if names::is_method_too(name) && !is_spread(arguments) {
                    self.out.push("py.");
                }
                if is_spread(arguments) {
                    self.out.push("__call__(\"");
                    self.out.push(spelled);
                    self.out.push("\", ");
                    self.spread(arguments)
                } else {
                    self.out.push(spelled);
                    self.plain(arguments)
                }
            }
        }
    }

    /// Writes what follows the callee in `call_(callee, [a, b], #{k: v})`.
    fn call_value(&mut self, arguments: &Arguments) -> Written {
        self.out.push(", ");
        if arguments.keywords.is_empty() {
            self.elements(&arguments.args)?;
            self.out.push(")");
            return Ok(());
        }
        self.spread(arguments)
    }

    /// `(a, b, #{k: v})`
    fn plain(&mut self, arguments: &Arguments) -> Written {
        self.out.push("(");
        for (i, argument) in arguments.args.iter().enumerate() {
            if i > 0 {
                self.out.push(", ");
            }
            self.argument(argument)?;
        }
        if !arguments.keywords.is_empty() {
            if !arguments.args.is_empty() {
                self.out.push(", ");
            }
            self.keywords(&arguments.keywords)?;
        }
        self.out.push(")");
        Ok(())
    }

    /// `[a, b], #{k: v})`: the end of a call by array and map.
    fn spread(&mut self, arguments: &Arguments) -> Written {
        self.elements(&arguments.args)?;
        self.out.push(", ");
        let keywords = &arguments.keywords;
        if keywords.iter().all(|keyword| keyword.arg.is_some()) {
            self.keywords(keywords)?;
        } else {
            self.out.push("__merge__(");
            let mut rest = keywords.as_slice();
            while let Some((first, others)) = rest.split_first() {
                if rest.len() < keywords.len() {
                    self.out.push(", ");
                } else if first.arg.is_none() && keywords.len() == 1 {
                    self.out.push("#{}, ");
                }
                if first.arg.is_none() {
                    self.expression(&first.value)?;
                    rest = others;
                } else {
                    let named = rest.iter().take_while(|k| k.arg.is_some()).count();
                    let (run, after) = rest.split_at(named);
                    self.keywords(run)?;
                    rest = after;
                }
            }
            self.out.push(")");
        }
        self.out.push(")");
        Ok(())
    }

    fn keywords(&mut self, keywords: &[Keyword]) -> Written {
        self.out.push("#{");
        for (i, keyword) in keywords.iter().enumerate() {
            if i > 0 {
                self.out.push(", ");
            }
            if let Some(name) = &keyword.arg {
                self.out.mark(start(keyword));
                self.out.push(&names::map_key(name.as_str()));
                self.out.push(": ");
            }
            self.argument(&keyword.value)?;
        }
        self.out.push("}");
        Ok(())
    }

    fn positional(&mut self, places: &[Place<'_>]) -> Written {
        self.out.push("(");
        for (i, place) in places.iter().enumerate() {
            if i > 0 {
                self.out.push(", ");
            }
            match place {
                Place::Given(value) => self.expression(value)?,
                Place::Default(text) => self.out.push(text),
            }
        }
        self.out.push(")");
        Ok(())
    }
}

/// The value passed for a parameter.
enum Place<'e> {
    Given(&'e Expr),
    Default(&'e str),
}

/// The arguments of a function of this input with its keywords put in their places and literal defaults filled in, if
/// that is possible: not where something is wrong, nor where the function or the call gathers arguments.
fn places<'e>(parameters: &'e [Parameter], arguments: &'e Arguments) -> Option<Vec<Place<'e>>> {
    let mut values: Vec<Option<&Expr>> = arguments.args.iter().map(Some).collect();
    let gathers = parameters.iter().any(|p| matches!(p.role, Role::Rest | Role::Keywords));
    if gathers || has_star(arguments) || values.len() > parameters.iter().filter(|p| p.role == Role::Plain).count() {
        return None;
    }
    values.resize(parameters.len(), None);
    for keyword in &arguments.keywords {
        let name = names::variable(keyword.arg.as_ref()?.as_str());
        let place = parameters.iter().position(|p| p.name == name)?;
        match values.get_mut(place)? {
            slot @ None => *slot = Some(&keyword.value),
            Some(_) => return None,
        }
    }
    values
        .into_iter()
        .zip(parameters)
        .map(|(value, parameter)| match value {
            Some(value) => Some(Place::Given(value)),
            None => parameter.literal_default.as_deref().map(Place::Default),
        })
        .collect()
}

/// The engine cannot take the arguments one by one.
fn is_spread(arguments: &Arguments) -> bool {
    arguments.args.len() + usize::from(!arguments.keywords.is_empty()) > MAX_ARGUMENTS || has_star(arguments)
}

/// Returns whether only the call itself tells how many arguments there are.
fn has_star(arguments: &Arguments) -> bool {
    arguments.args.iter().any(Expr::is_starred_expr) || arguments.keywords.iter().any(|k| k.arg.is_none())
}

fn check_keywords(arguments: &Arguments) -> Written {
    let mut seen = std::collections::HashSet::new();
    for keyword in &arguments.keywords {
        if let Some(name) = &keyword.arg
            && !seen.insert(name.as_str())
        {
            let message = format!("keyword argument repeated: {name}");
            return Err(SyntaxFault::syntax(message, start(keyword)));
        }
    }
    Ok(())
}

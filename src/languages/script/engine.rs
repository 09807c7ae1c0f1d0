//! The Rhai engine with our functions: registration, names, subscripts, operators, limits and interrupts. Every call of
//! a script ends in [`mod@dispatch`], which finds the row of the function table.

use super::arrays;
use super::blobs;
use super::bounds;
use super::callback;
use super::caught;
use super::fault;
use super::holders;
use super::imports;
use super::json;
use super::moments;
use super::native::{add, add_calling, any, check_complete};
use super::numbers;
use super::plain::RhaiArgument;
use super::printing::{self, shown};
use super::reading::forms_of_python;
use super::reading::{self, Compiled, Names};
use super::runtime::Runtime;
use super::scoped;
use super::shadowed;
use super::subscripts;
use super::tokens;
use super::values::{
    BoxedObject, arguments, arguments_as, class_ids, is_ours, module_name, register_names, sequence_ids, to_dynamic,
    to_listed, to_subscript, to_value,
};
use super::words;
use call::bind::{Arguments, Parser};
use call::dispatch;
use call::signature::Kind;
use call::{Family, Overloads, Receiver, suggest};
use objects::iterate::{Iter, iterate};
use objects::plain::slices::slice;
use objects::{members, operators};
use rhai::packages::{
    ArithmeticPackage, BasicArrayPackage, BasicBlobPackage, BasicFnPackage, BasicIteratorPackage, BasicMapPackage,
    BasicMathPackage, BasicStringPackage, BitFieldPackage, LanguageCorePackage, MoreStringPackage, Package,
};
use rhai::{
    AST, Dynamic, Engine, EvalAltResult, ImmutableString, Module, NativeCallContext, OptimizationLevel, ParseError,
    Position,
};
use std::any::TypeId;
use std::cell::RefCell;
use std::rc::Rc;
use tensor::system::Moment;
use tensor::{Error, ErrorKind, Result, Tensor};
use value::{Keywords, Value, equality};

rhai::def_package! {
    /// Rhai's own functions, as a single module: the engine searches its modules one after the other.
    Language(module): ArithmeticPackage, LanguageCorePackage, BasicStringPackage, MoreStringPackage,
        BasicIteratorPackage, BasicArrayPackage, BasicBlobPackage, BasicMapPackage, BasicMathPackage, BasicFnPackage,
        BitFieldPackage {}
}

/// Builds an engine that knows every function of the table and reports to `state`.
pub fn build(state: &Rc<Runtime>) -> Engine {
    let mut engine = Engine::new_raw();
    engine.register_global_module(Language::new().as_shared_module());
    bounds::set_limits(&mut engine, state);
    engine.set_fail_on_invalid_map_property(true);
    // The optimizer turns `a = a + b` into `a += b`, which would write into a tensor that other variables share.
    engine.set_optimization_level(OptimizationLevel::None);
    let mut module = Module::new();
    register_names(&mut engine, &mut module);
    // The names that `type_of` returns, except for numbers: the engine needs its own names for `int` and `float` to
    // find their methods.
    module.set_custom_type::<fault::Thrown>("error");
    module.set_custom_type::<Moment>("timestamp");
    register_missing(&mut engine, state);
    register_subscripts(&mut module, state);
    subscripts::register_proxy(&mut module);
    register_operators(&mut module, state);
    register_iteration(&mut module, state);
    register_over_integers(&mut module, state);
    bounds::register(&mut module);
    numbers::register(&mut module);
    forms_of_python::register(&mut module, state);
    arrays::register(&mut module, state);
    arrays::register_containers(&mut module, state, &class_ids(), &sequence_ids());
    blobs::register(&mut module, state);
    json::register(&mut module, state);
    moments::register(&mut module);
    scoped::register(&mut module, state);
    caught::register(&mut engine, &mut module, state);
    holders::register(&mut engine, state);
    shadowed::register_handed_on(&mut engine, state);
    engine.register_global_module(module.into());
    printing::register(&mut engine, state);
    // Python's matrix product; the precedence is that of `*`.
    let matrices = engine.register_custom_operator("@", 180).map(drop);
    if let Err(reason) = matrices.and_then(|()| numbers::register_operators(&mut engine, state)) {
        state.print(&format!("an operator is unavailable: {reason}\n"));
    }
    resolve_names(&mut engine, state);
    engine.set_module_resolver(imports::Resolver::new(state));
    tokens::free_reserved_words(&mut engine, state);
    engine
}

/// Parses a text and registers the functions that it names with the engine, including those named by imported modules.
///
/// # Errors
/// The errors of [`reading::parse`].
pub fn compile(
    engine: &RefCell<Engine>,
    state: &Rc<Runtime>,
    source: &str,
    names: &Names,
) -> std::result::Result<Compiled<AST>, Compiled<ParseError>> {
    let compiled = reading::parse(&engine.borrow(), state, source, names);
    if let Ok(compiled) = &compiled {
        imports::prepare(&engine.borrow(), state, None, &compiled.made);
    }
    register_named(&mut engine.borrow_mut(), state);
    compiled
}

/// Builds an engine like the session's previous one, but without the functions of scripts.
pub fn rebuild(state: &Rc<Runtime>) -> Engine {
    let known = state.known.take().into_iter().filter_map(|name| state.registry.family(name));
    state.named.borrow_mut().extend(known);
    state.named_attributes.borrow_mut().extend(state.known_attributes.take());
    state.shadowing.borrow_mut().extend(state.shadowed.borrow().iter().copied());
    let mut engine = build(state);
    register_named(&mut engine, state);
    engine
}

/// Registers the table functions and attributes that texts have named since the last call.
pub(crate) fn register_named(engine: &mut Engine, state: &Rc<Runtime>) {
    for family in state.named.take() {
        if state.known.borrow_mut().insert(family.name) {
            register(engine, state, family);
        }
    }
    for name in state.named_attributes.take() {
        if state.known_attributes.borrow_mut().insert(name) {
            subscripts::register_attribute(engine, state, name);
        }
    }
    shadowed::register(engine, state);
}

/// Registers a table function for the usual numbers of arguments; the engine finds registered functions quickly and
/// caches them. Calls with other numbers of arguments reach the same code through the hook for unknown functions. So do
/// functions whose name no text contained before it began to run.
fn register(engine: &mut Engine, state: &Rc<Runtime>, family: &'static Family) {
    let methods = family.find(Receiver::Class(Kind::Tensor));
    // Only the hook for unknown functions knows whether a name followed a dot.
    let asks_for_style = state.bare.borrow().get(family.name).cloned().unwrap_or_default();
    for arity in 0..=family.most_arguments() {
        let (state, asks_for_style) = (state.clone(), asks_for_style.clone());
        engine.register_raw_fn(family.name, any(arity), move |_: NativeCallContext, args: &mut [&mut Dynamic]| {
            if asks_for_style.get() {
                return Err(EvalAltResult::ErrorRuntime(Dynamic::UNIT, Position::NONE).into());
            }
            let result = match try_plain(&state, family, methods, args) {
                Some(result) => result.and_then(|value| state.to_script(value)),
                None => answer(&state, family, args),
            };
            result.map_err(fault::thrown)
        });
    }
}

/// Returns whether the registered function leaves every call to the hook.
fn defers(state: &Runtime, family: &Family) -> bool {
    state.bare.borrow().get(family.name).is_some_and(|is_bare| is_bare.get())
}

/// Returns whether the engine knows a function of this family that takes `count` arguments.
fn is_registered(state: &Runtime, family: Option<&Family>, count: usize) -> bool {
    family.is_some_and(|family| count <= family.most_arguments() && state.known.borrow().contains(family.name))
}

fn register_missing(engine: &mut Engine, state: &Rc<Runtime>) {
    // `type_of(x)` and `x.type_of()`: see `rename`.
    engine.register_raw_fn("type_of_", any(1), |context: NativeCallContext, args: &mut [&mut Dynamic]| {
        let class = args.first().map_or("()", |value| Dynamic::type_name(value));
        Ok(Dynamic::from(match context.engine().map_type_name(class) {
            "i64" => "int".to_owned(),
            "f64" => "float".to_owned(),
            other => other.to_owned(),
        }))
    });
    let state = state.clone();
    #[allow(deprecated)] // "volatile", but nothing else accepts any number of arguments
    engine.on_missing_function(move |name, args, on_receiver, _| match state.registry.family(method(name, args)) {
        // A closure with another number of parameters: the engine tries several.
        None if fault::is_unnamed(name) => Ok(None),
        _ if let Some(done) = bounds::deferred(name, args) => done.map(Some),
        None if on_receiver && let Some(read) = bounds::property(&state, name, args) => Ok(Some(read)),
        // `item in container`. If the value is not a container, the engine itself reports the error with its position.
        None if name == "contains"
            && let [container, item] = args
            && let Some(holds) = holds(&state, container, item) =>
        {
            holds.map(|holds| Some(holds.into())).map_err(fault::thrown)
        }
        // The engine calls this hook after every failure. A registered function has already examined its receiver.
        family
            if !is_registered(&state, family, args.len())
                && let Some(called) = shared_method(&state, name, args) =>
        {
            called.map(Some).map_err(fault::thrown)
        }
        None if !on_receiver && let Some(callee) = state.globals.borrow().get(name).cloned() => {
            let called = to_value(&callee).and_then(|callee| callback::call(&state, &callee, args));
            called.map(Some).map_err(fault::thrown)
        }
        None if let Some(class) = objects::plain::exceptions::builtin(name).filter(|_| !on_receiver) => {
            let called = callback::call(&state, &Value::Type(class), args);
            called.map(Some).map_err(fault::thrown)
        }
        Some(family) if !on_receiver && (family.is_another_bare() || has_out(args)) => {
            answer_bare(&state, family, args).map(Some).map_err(fault::thrown)
        }
        // The engine calls this hook after every failure. A registered function that failed must not run again.
        Some(family) if !is_registered(&state, Some(family), args.len()) || defers(&state, family) => {
            answer(&state, family, args).map(Some).map_err(fault::thrown)
        }
        None if on_receiver && let Some(callee) = callback::callable_attribute(&state, name, args) => {
            let given = args.get(1..).unwrap_or_default();
            callback::call(&state, &callee, given).map(Some).map_err(fault::thrown)
        }
        None if on_receiver => match args.first().and_then(|receiver| not_callable(&state, receiver, name)) {
            Some(error) => Err(fault::thrown(error)),
            None => Ok(None),
        },
        _ => Ok(None),
    });
}

/// Evaluates `item in container`. `None` for values that Rhai handles itself, and for values that are not containers.
fn holds(state: &Runtime, container: &Dynamic, item: &Dynamic) -> Option<Result<bool>> {
    if container.is_array() || container.is_map() || container.is_string() {
        return None;
    }
    let (container, item) = (to_value(container).ok()?, to_value(item).ok()?);
    let held = objects::plain::containers::contains(&state.state, &container, &item);
    Some(held).filter(|held| !held.as_ref().is_err_and(|error| error.message.ends_with("is not iterable")))
}

/// Calls a method of a value made by Python: a list, a dictionary, a set or an object of a class. `None` for any other
/// receiver.
fn shared_method(state: &Runtime, name: &str, args: &[&mut Dynamic]) -> Option<Result<Dynamic>> {
    let (receiver, given) = args.split_first()?;
    if is_copied(receiver, name) {
        return None;
    }
    let receiver = to_value(receiver).ok()?;
    // `f.call(x)` calls any callable, whichever language made it.
    if name == "call" && matches!(receiver, Value::Object(_)) && objects::calling::is_callable(&receiver) {
        return Some(callback::call(state, &receiver, given));
    }
    let (positional, keywords) = match arguments(given) {
        Ok(arguments) => arguments,
        Err(error) => return Some(Err(error)),
    };
    if let Some(done) = objects::container_methods::call(&state.state, &receiver, name, &positional, &keywords) {
        return Some(done.and_then(|value| state.to_script(value)));
    }
    let Value::Object(object) = &receiver else { return None };
    let method = object.own_attribute(name)?;
    let called = method.and_then(|method| objects::calling::call_value(&state.state, &method, positional, keywords));
    Some(called.and_then(|value| state.to_script(value)))
}

/// Returns whether the receiver is a Rhai array or map. These arrive as copies, on which a change would be lost.
fn is_copied(receiver: &Dynamic, name: &str) -> bool {
    receiver.is_map() || receiver.is_array() && !matches!(name, "index" | "count")
}

/// Returns Python's error for `x.name()` if `x.name` exists but is not callable. `None` if it does not exist.
fn not_callable(state: &Runtime, receiver: &Dynamic, name: &str) -> Option<Error> {
    let receiver = to_value(receiver).ok()?;
    match members::attribute(state, &receiver, name).ok()? {
        Value::Function(_) | Value::Method(_) => None,
        Value::Type(class @ ("torch.dtype" | "torch.layout" | "torch.memory_format")) => {
            Some(Error::type_error(format!("cannot create '{class}' instances")))
        }
        Value::Type(_) => None,
        other => {
            let error = Error::type_error(format!("'{}' object is not callable", other.type_name()));
            Some(error.with_hint(format!("`{name}` is not a function: write `.{name}` without `()`")))
        }
    }
}

/// Calls a method of a tensor or a function of `torch` whose arguments are plain, or makes the slice that `x[1..3]` and
/// `x[1:3]` become. `None` for any other call.
fn try_plain(
    state: &Runtime,
    family: &'static Family,
    methods: Option<&Overloads>,
    args: &[&mut Dynamic],
) -> Option<Result<Value>> {
    let (first, given) = args.split_first()?;
    if family.name == "slice"
        && let [stop] = given
    {
        let (start, stop) = (first.as_int().ok()?, stop.as_int().ok()?);
        return Some(Ok(slice(Value::Int(start), Value::Int(stop), Value::None)));
    }
    let given = given.iter().map(|argument| RhaiArgument(argument));
    // The lock is released before the call: the method may modify the variable.
    let this = first.read_lock::<Tensor>().map(|tensor| tensor.clone());
    if let Some(this) = this {
        return dispatch::try_plain_method(state, methods?, this, given);
    }
    if module_name(first) != Some("torch") {
        return None;
    }
    dispatch::try_plain_function(state, family.find(Receiver::Module(""))?, given)
}

/// Calls a table function and converts the result for the script.
fn answer(state: &Runtime, family: &Family, args: &mut [&mut Dynamic]) -> Result<Dynamic> {
    dispatch(state, family, args).and_then(|value| state.to_script(value)).and_then(check_complete)
}

/// Like `answer`, for a call of a bare name if a method of that name means something else.
fn answer_bare(state: &Runtime, family: &Family, args: &mut [&mut Dynamic]) -> Result<Dynamic> {
    let first = args.first().map(|first| to_value(first)).transpose()?;
    let is_method = |first: &Value| Kind::of(first).is_some_and(|kind| family.find(Receiver::Class(kind)).is_some());
    match &first {
        Some(first)
            if is_method(first)
                && let Ok(overloads) = bare(state, family, Some(first), args.len()) =>
        {
            call(state, overloads, None, args).and_then(|value| state.to_script(value)).and_then(check_complete)
        }
        _ => answer(state, family, args),
    }
}

/// Returns whether a call names its destination with `out=`. Functions of torch accept it; methods do not.
fn has_out(args: &[&mut Dynamic]) -> bool {
    args.len() > 1
        && args.last().and_then(|last| last.read_lock::<rhai::Map>()).is_some_and(|map| map.contains_key("out"))
}

/// Python builtins that accept a module. `len(torch)`, in contrast, means `torch.len()`, which does not exist.
const OF_MODULES: &[&str] = &["getattr", "hasattr", "id", "isinstance", "repr", "str", "type"];

/// Functions that take a function as their first argument in Python. In Rhai the receiver comes first.
const FUNCTION_FIRST: &[&str] = &["map", "filter", "reduce"];

/// Finds the function that a name means for these arguments, and calls it.
pub fn dispatch(state: &Runtime, family: &Family, args: &mut [&mut Dynamic]) -> Result<Value> {
    let Some((first, rest)) = args.split_first() else {
        return call(state, bare(state, family, None, 0)?, None, &[]);
    };
    let receiver = to_value(first)?;
    if FUNCTION_FIRST.contains(&family.name)
        && let [function, ..] = rest
        && (**function).is::<rhai::FnPtr>()
        && let Some((_, overloads)) = family.members().next()
    {
        let (mut positional, keywords) = arguments(args)?;
        positional.swap(0, 1);
        return dispatch::call(state, overloads, None, &Arguments { positional: positional.into(), keywords });
    }
    if !matches!(receiver, Value::Tensor(_) | Value::Module(_)) && !is_copied(first, family.name) {
        let (positional, keywords) = arguments(rest)?;
        if let Some(done) = objects::container_methods::call(state, &receiver, family.name, &positional, &keywords) {
            return done;
        }
    }
    let missing = || suggest::no_attribute(state, &receiver, words::typed(family.name));
    match &receiver {
        Value::Module(path) => {
            let module = if *path == "torch" { "" } else { path };
            match (family.find(Receiver::Module(module)), family.find(Receiver::Module("py"))) {
                (Some(overloads), _) => call(state, overloads, None, rest),
                (None, Some(builtin)) if OF_MODULES.contains(&family.name) => call(state, builtin, None, args),
                _ => match members::attribute(state, &receiver, family.name) {
                    // A class that several modules contain: `torch.storage.TypedStorage(…)`.
                    Ok(class @ Value::Type(_)) => {
                        let (positional, keywords) = arguments(rest)?;
                        objects::calling::call_value(state, &class, positional, keywords)
                    }
                    // `np.sin(a)`: NumPy's universal functions are objects.
                    Ok(callee @ Value::Object(_)) if objects::calling::is_callable(&callee) => {
                        let (positional, keywords) = arguments(rest)?;
                        objects::calling::call_value(state, &callee, positional, keywords)
                    }
                    _ => Err(not_callable(state, first, family.name).unwrap_or_else(missing)),
                },
            }
        }
        Value::Type(class) => {
            let short = class.rsplit('.').next().unwrap_or(class);
            if let Some(overloads) = family.find(Receiver::Module(short)) {
                objects::legacy_classes::refuse_elsewhere(class, family.name)?;
                return call(state, overloads, None, rest);
            }
            // A builtin about the class itself. `isinstance` and `is` accept the class at any position.
            let about_it = rest.is_empty() && OF_MODULES.contains(&family.name);
            let method =
                objects::legacy_classes::kind_of_class(class).and_then(|kind| family.find(Receiver::Class(kind)));
            if let Some(builtin) = family.find(Receiver::Module("py")).filter(|_| about_it || method.is_none()) {
                return call(state, builtin, None, args);
            }
            // `torch.Tensor.view(x, 2)`: the receiver is passed explicitly.
            let overloads = method.ok_or_else(missing)?;
            let Some((this, rest)) = rest.split_first() else { return Err(dispatch::unbound(overloads, None)) };
            let this = to_value(this)?;
            match Kind::of(&this).and_then(|kind| family.find(Receiver::Class(kind))) {
                Some(overloads) => call(state, overloads, Some(&this), rest),
                None => Err(dispatch::unbound(overloads, Some(&this))),
            }
        }
        _ => {
            if let Some(overloads) = Kind::of(&receiver).and_then(|kind| family.find(Receiver::Class(kind))) {
                return call(state, overloads, Some(&receiver), rest);
            }
            // A class method called on an instance.
            let class = receiver.class_name().rsplit('.').next().unwrap_or_default();
            match family.find(Receiver::Module(class)) {
                Some(overloads) => call(state, overloads, None, rest),
                None => call(state, bare(state, family, Some(&receiver), args.len())?, None, args),
            }
        }
    }
}

/// Finds a function called by its bare name: Python's builtin, unless the first argument is a tensor and `torch` has
/// the function.
fn bare<'f>(state: &Runtime, family: &'f Family, first: Option<&Value>, count: usize) -> Result<&'f Overloads> {
    let torch = family.find(Receiver::Module(""));
    let builtin = family.find(Receiver::Module("py"));
    // `complex(x)` of a tensor is Python's builtin; `save(…)` in any format is the shell's.
    let wants_torch =
        matches!(first, Some(Value::Tensor(_))) && !matches!((family.name, count), ("complex", 1) | ("save", _));
    // A function that works in place needs a receiver: `x.grad.zero_()` fails if there is no gradient yet.
    let torch = torch.filter(|_| !(family.name.ends_with('_') && matches!(first, Some(Value::None))));
    let found = if wants_torch { torch.or(builtin) } else { builtin.or(torch) };
    found.ok_or_else(|| match first {
        Some(value) => suggest::no_attribute(state, value, words::typed(family.name)),
        None => Error::new(ErrorKind::NameError, format!("name '{}' is not defined", family.name)),
    })
}

/// Functions that take subscripts.
const OF_SUBSCRIPTS: &[&str] = &["at", "slice", "__getitem__", "__setitem__"];

fn call(state: &Runtime, overloads: &Overloads, receiver: Option<&Value>, args: &[&mut Dynamic]) -> Result<Value> {
    let made = match overloads.parser {
        _ if OF_SUBSCRIPTS.contains(&overloads.name) => to_subscript,
        Parser::Builtin => to_value,
        _ => to_listed,
    };
    let (mut positional, mut keywords) = arguments_as(args, made)?;
    let given = positional.len() + usize::from(receiver.is_some());
    if let Some(last) = args.last().filter(|_| !keywords.is_empty())
        && overloads.takes_map(given, keywords.iter().map(|(key, _)| &**key))
    {
        positional.push(made(last)?);
        keywords = Keywords::new();
    }
    dispatch::call(state, overloads, receiver, &Arguments { positional: positional.into(), keywords })
}

fn register_subscripts(module: &mut Module, state: &Rc<Runtime>) {
    // A character of Rhai is a string in Python, and can be subscripted. Functions have attributes.
    for class in class_ids().into_iter().chain([TypeId::of::<char>(), TypeId::of::<rhai::FnPtr>()]) {
        let this = state.clone();
        add(module, "index$get$", &[class, TypeId::of::<Dynamic>()], move |args| match args {
            [target, index] => subscripts::get(&this, to_value(target)?, index).and_then(|value| this.to_script(value)),
            _ => Ok(Dynamic::UNIT),
        });
    }
    for class in class_ids() {
        let types = [class, TypeId::of::<Dynamic>(), TypeId::of::<Dynamic>()];
        add_calling(module, state, "index$set$", &types, true, |state, context, args| match args {
            [target, index, value] => {
                let is_assigned = || state.assigns(context.call_source(), context.call_position());
                let set =
                    to_value(target).and_then(|target| subscripts::set(state, &target, index, value, is_assigned));
                set.and_then(|()| check_complete(Dynamic::UNIT)).map_err(fault::thrown)
            }
            _ => Ok(Dynamic::UNIT),
        });
    }
}

fn register_operators(module: &mut Module, state: &Rc<Runtime>) {
    for operator in &operators::BINARY {
        let this = state.clone();
        add(module, operator.symbol, &any(2), move |args| match args {
            [a, b] => {
                operators::binary(&this, operator, &to_value(a)?, &to_value(b)?).and_then(|value| this.to_script(value))
            }
            _ => Ok(Dynamic::UNIT),
        });
        if let Some(in_place) = operator.in_place {
            let this = state.clone();
            add(module, in_place, &[TypeId::of::<Tensor>(), TypeId::of::<Dynamic>()], move |args| match args {
                [a, b] => {
                    let changed = to_value(a)?;
                    operators::in_place(&this, operator, &changed, &to_value(b)?)?;
                    this.changed.set(changed.address());
                    Ok(Dynamic::UNIT)
                }
                _ => Ok(Dynamic::UNIT),
            });
            let this = state.clone();
            add(module, in_place, &[TypeId::of::<BoxedObject>(), TypeId::of::<Dynamic>()], move |args| match args {
                [a, b] => {
                    let (left, right) = (to_value(a)?, to_value(b)?);
                    // Arrays change in place, like tensors. A NumPy scalar is replaced.
                    let made = match &left {
                        Value::Object(object) if object.is_array() => {
                            operators::in_place(&this, operator, &left, &right)?
                        }
                        _ => operators::binary(&this, operator, &left, &right)?,
                    };
                    if made.address() == left.address() {
                        this.changed.set(left.address());
                    } else {
                        **a = this.to_script(made)?;
                    }
                    Ok(Dynamic::UNIT)
                }
                _ => Ok(Dynamic::UNIT),
            });
        }
    }
    // Rhai itself would append the text of any value to a string.
    let (text, other) = (TypeId::of::<ImmutableString>(), TypeId::of::<Dynamic>());
    let nothing = TypeId::of::<()>();
    for types in [[text, other], [other, text], [text, nothing], [nothing, text]] {
        let this = state.clone();
        add(module, "+", &types, move |args| match args {
            [a, b] => Ok((shown(&this, a)? + shown(&this, b)?.as_str()).into()),
            _ => Ok(Dynamic::UNIT),
        });
    }
    for (symbol, name) in operators::UNARY {
        let this = state.clone();
        add(module, symbol, &any(1), move |args| match args {
            [a] => operators::unary(&this, name, &to_value(a)?).map(to_dynamic),
            _ => Ok(Dynamic::UNIT),
        });
    }
}

fn register_iteration(module: &mut Module, state: &Rc<Runtime>) {
    for class in class_ids() {
        let state = state.clone();
        module.set_iter_result(class, move |value| match to_value(&value).and_then(|value| iterate(&state, &value)) {
            Ok(mut items) => Box::new(std::iter::from_fn(move || match items.next() {
                Ok(item) => item.map(|item| Ok(to_dynamic(item))),
                Err(error) => {
                    items = Iter::Done;
                    Some(Err(fault::thrown(error)))
                }
            })),
            Err(error) => Box::new(std::iter::once(Err(fault::thrown(error)))),
        });
    }
}

/// Replaces Rhai's integer functions of these names: Rhai's `range` has neither step nor length, and its `bits` means
/// something else.
fn register_over_integers(module: &mut Module, state: &Rc<Runtime>) {
    for (name, arities) in [("range", 1..=3), ("bits", 1..=1)] {
        let Some(family) = state.registry.family(name) else { continue };
        for arity in arities {
            let state = state.clone();
            add(module, family.name, &vec![TypeId::of::<i64>(); arity], move |args| answer(&state, family, args));
        }
    }
}

/// Resolves names that are always defined, also inside functions: modules, Python's constants, and dtypes by their bare
/// names.
fn resolve_names(engine: &mut Engine, state: &Rc<Runtime>) {
    let state = state.clone();
    #[allow(deprecated)] // "volatile", but there is no other way to see globals inside functions
    engine.on_var(move |name, index, context| {
        // A known stack position, or a local of that name: an ordinary variable.
        if index > 0 || context.scope().contains(name) {
            return Ok(None);
        }
        // Constants of the script, or of the module that contains the function.
        let constants = context.global_runtime_state().constants.clone();
        if let Some(value) = constants.and_then(|constants| constants.borrow().get(name).cloned()) {
            return Ok(Some(value));
        }
        if context.source().is_none_or(|source| state.modules.source(source).is_none())
            && let Some(value) = state.globals.borrow().get(name)
        {
            return Ok(Some(value.clone()));
        }
        if name == subscripts::PROXY_VARIABLE {
            return Ok(Some(Dynamic::from(subscripts::AssignmentProxy)));
        }
        Ok(constant(name).map(to_dynamic))
    });
}

/// Returns a name that every session starts with.
pub fn constant(name: &str) -> Option<Value> {
    Some(match name {
        "torch" => Value::Module("torch"),
        "py" => Value::Module("py"),
        "None" => Value::None,
        "True" => Value::Bool(true),
        "False" => Value::Bool(false),
        "Ellipsis" => Value::Ellipsis,
        "inf" => Value::Float(f64::INFINITY),
        "nan" => Value::Float(f64::NAN),
        "cpu" | "meta" => return tensor::Device::parse(name).ok().map(Value::Device),
        "NotImplemented" => Value::Object(Rc::new(equality::NotImplemented)),
        _ => {
            return objects::plain::exceptions::builtin(name)
                .map(Value::Type)
                .or_else(|| objects::modules::member(name));
        }
    })
}

/// Resolves a name in a Rhai line: a constant, or a function by its bare name.
pub fn named(state: &Runtime, name: &str) -> Option<Value> {
    constant(name).or_else(|| {
        // Other words in a Rhai line may make it be read as Python.
        if let "true" | "false" = name {
            return Some(Value::Bool(name == "true"));
        }
        let known = state.registry.find(name, Receiver::Module("")).is_some();
        known.then(|| Value::Function(name.into()))
    })
}

/// Returns the method that `tokens.rs` hides from the engine, if the receiver may have it.
fn method<'n>(name: &'n str, args: &[&mut Dynamic]) -> &'n str {
    if name == tokens::IS_SHARED && args.first().is_some_and(|value| is_ours(value)) { "is_shared" } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_torch_resolve_bare() {
        assert!(matches!(constant("float32"), Some(Value::DType(tensor::DType::Float))));
        assert!(constant("no_such_name").is_none());
    }
}

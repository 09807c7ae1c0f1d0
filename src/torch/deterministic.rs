//! Deterministic algorithms on request. Every function is deterministic already, so the request only makes new memory
//! be filled: reading it before writing then gives the same values each time. Functions that PyTorch does not call
//! deterministic are refused like there. Follows
//! <https://pytorch.org/docs/2.7/generated/torch.use_deterministic_algorithms.html>.

use call::{Call, Row, State, function};
use tensor::{Result, bail};
use value::Value;

pub(crate) const ROWS: &[Row] = &[
    function(
        "use_deterministic_algorithms(any mode, *, any warn_only=False) -> None",
        switch,
        "Requires deterministic algorithms, or stops doing so; while required, new memory is filled.",
    )
    .python("use_deterministic_algorithms"),
    function(
        "are_deterministic_algorithms_enabled() -> bool",
        |c| Ok(Value::Bool(c.state.deterministic.get().0)),
        "Returns whether deterministic algorithms are required.",
    ),
    function(
        "is_deterministic_algorithms_warn_only_enabled() -> bool",
        |c| Ok(Value::Bool(c.state.deterministic.get().1)),
        "Returns whether nondeterministic algorithms only cause a warning.",
    ),
    function(
        "get_deterministic_debug_mode() -> int",
        |c| {
            Ok(Value::Int(match c.state.deterministic.get() {
                (false, _) => 0,
                (true, true) => 1,
                (true, false) => 2,
            }))
        },
        "Returns 0 if nondeterminism is allowed, 1 if it causes a warning, 2 if it is an error.",
    ),
    function(
        "set_deterministic_debug_mode(any debug_mode) -> None",
        set_mode,
        "Requires deterministic algorithms, by a number or a word.",
    )
    .python("set_deterministic_debug_mode"),
];

/// Refuses an operation that has no deterministic implementation in PyTorch, or warns of it, if the session asks for
/// deterministic algorithms.
///
/// # Errors
/// RuntimeError in PyTorch's words.
pub(crate) fn alert(state: &State, operation: &str) -> Result<()> {
    let file = "You can file an issue at https://github.com/pytorch/pytorch/issues to help us prioritize adding \
                deterministic support for this operation.";
    match state.deterministic.get() {
        (false, _) => {}
        (true, true) => state.warn_once(
            "UserWarning",
            format!(
                "{operation} does not have a deterministic implementation, but you set \
                 'torch.use_deterministic_algorithms(True, warn_only=True)'. {file} (Triggered internally at \
                 /pytorch/aten/src/ATen/Context.cpp:93.)"
            ),
        ),
        (true, false) => bail!(
            RuntimeError,
            "{operation} does not have a deterministic implementation, but you set \
             'torch.use_deterministic_algorithms(True)'. You can turn off determinism just for this operation, or you \
             can use the 'warn_only=True' option, if that's acceptable for your application. {}",
            file.replacen("You can", "You can also", 1)
        ),
    }
    Ok(())
}

fn switch(call: &mut Call) -> Result<Value> {
    let (mode, warn_only) = (call.value(0), call.value(1));
    let (Value::Bool(mode), Value::Bool(warn_only)) = (&mode, &warn_only) else {
        let (name, place, given) = match mode {
            Value::Bool(_) => ("warn_only", 2, warn_only),
            other => ("mode", 1, other),
        };
        bail!(
            TypeError,
            "_set_deterministic_algorithms(): argument '{name}' (position {place}) must be bool, not {}",
            given.type_name()
        )
    };
    call.state.deterministic.set((*mode, *warn_only));
    Ok(Value::None)
}

fn set_mode(call: &mut Call) -> Result<Value> {
    call.state.deterministic.set(match call.value(0) {
        Value::Str(word) => match &*word {
            "default" => (false, false),
            "warn" => (true, true),
            "error" => (true, false),
            other => bail!(
                RuntimeError,
                "invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got {other}"
            ),
        },
        Value::Int(0) => (false, false),
        Value::Int(1) => (true, true),
        Value::Int(2) => (true, false),
        Value::Int(other) => bail!(RuntimeError, "invalid value of debug_mode, expected 0, 1, or 2, but got {other}"),
        other => bail!(TypeError, "debug_mode must be str or int, but got <class '{}'>", other.class_name()),
    });
    Ok(Value::None)
}

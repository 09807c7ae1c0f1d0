//! Arguments of Rhai for the fast path of a call: see `call/plain.rs`.

use call::plain::Argument;
use rhai::Dynamic;
use tensor::Tensor;
use value::Value;

/// An argument given by a script.
pub(super) struct RhaiArgument<'a>(pub &'a Dynamic);

impl Argument for RhaiArgument<'_> {
    #[inline]
    fn plain(self) -> Option<Value> {
        let RhaiArgument(argument) = self;
        if argument.is_int() {
            return argument.as_int().ok().map(Value::Int);
        }
        if let Some(tensor) = argument.read_lock::<Tensor>() {
            return Some(Value::Tensor(tensor.clone()));
        }
        if argument.is_float() {
            return argument.as_float().ok().map(Value::Float);
        }
        argument.as_bool().ok().map(Value::Bool)
    }

    #[inline]
    fn int(self) -> Option<i64> {
        self.0.as_int().ok()
    }
}

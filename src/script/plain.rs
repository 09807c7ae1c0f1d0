//! Arguments of Rhai as the straight way of a call takes them: see `call/plain.rs`.

use crate::call::plain::Argument;
use crate::tensor::Tensor;
use crate::value::Value;
use rhai::Dynamic;

impl Argument for &mut Dynamic {
    #[inline]
    fn plain(&self) -> Option<Value> {
        if self.is_int() {
            return self.as_int().ok().map(Value::Int);
        }
        if let Some(tensor) = self.read_lock::<Tensor>() {
            return Some(Value::Tensor(tensor.clone()));
        }
        if self.is_float() {
            return self.as_float().ok().map(Value::Float);
        }
        self.as_bool().ok().map(Value::Bool)
    }

    #[inline]
    fn int(&self) -> Option<i64> {
        self.as_int().ok()
    }
}

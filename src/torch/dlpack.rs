//! Tensors exchanged between libraries without a copy. Follows <https://pytorch.org/docs/2.7/dlpack.html>.

use call::facets::NameInference::Nameless;
use call::{Call, Row, function};
use std::cell::RefCell;
use std::rc::Rc;
use tensor::{Error, Result, Tensor, View, bail};
use value::{Object, ObjectState, Slot, Value};

pub(crate) const ROWS: &[Row] = &[
    function("from_dlpack(any ext_tensor) -> Tensor", from_dlpack, "Creates a tensor on the memory of another.")
        .aliases(&["utils.dlpack.from_dlpack"])
        .python("from_dlpack")
        .recorded_in_steps(),
    function("to_dlpack(Tensor tensor) -> any", to_dlpack, "Wraps a tensor in a capsule that can be consumed once.")
        .aliases(&["utils.dlpack.to_dlpack"])
        .names(Nameless)
        .recorded_in_steps(),
];

/// The capsule that carries a tensor between libraries. The tensor can be taken out once.
struct Capsule(Rc<Content>);

struct Content(RefCell<Option<Tensor>>);

/// Lets undo put the tensor back into the capsule.
impl Slot for Content {
    fn value(&self) -> Option<Value> {
        self.0.borrow().clone().map(Value::Tensor)
    }

    fn put(&self, value: Option<Value>) {
        let tensor = value.and_then(|value| if let Value::Tensor(tensor) = value { Some(tensor) } else { None });
        *self.0.borrow_mut() = tensor;
    }

    fn identity(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

impl Object for Capsule {
    fn type_name(&self) -> &str {
        "PyCapsule"
    }

    fn object_state(&self) -> ObjectState {
        ObjectState { slots: vec![self.0.clone()], ..ObjectState::default() }
    }

    fn repr(&self) -> String {
        let name = if self.0.0.borrow().is_some() { "dltensor" } else { "used_dltensor" };
        format!("<capsule object \"{name}\" at {:p}>", std::ptr::from_ref(self))
    }
}

fn handed_on(tensor: &Tensor) -> Result<View> {
    if tensor.requires_grad() {
        bail!(RuntimeError, "Can't export tensors that require gradient, use tensor.detach()");
    }
    if tensor.borrow().conj {
        bail!(RuntimeError, "Can't export tensors with the conjugate bit set");
    }
    // The stride of a dimension with fewer than two elements has no meaning, so it is exported as 1.
    let mut view = tensor.view();
    for (stride, &size) in view.layout.strides.iter_mut().zip(&view.layout.sizes) {
        if size < 2 {
            *stride = 1;
        }
    }
    Ok(view)
}

fn to_dlpack(call: &mut Call) -> Result<Value> {
    let view = handed_on(call.tensor(0)?)?;
    Ok(Value::Object(Rc::new(Capsule(Rc::new(Content(RefCell::new(Some(Tensor::new(view)))))))))
}

fn from_dlpack(call: &mut Call) -> Result<Value> {
    match call.value(0) {
        Value::Tensor(tensor) => handed_on(&tensor).map(Value::from),
        capsule if let Some(tensor) = taken(&capsule) => tensor.map(Value::Tensor),
        Value::Object(object) if let Some(array) = object.tensor_elements() => array.map(Value::from),
        other => {
            bail!(AttributeError, "'{}' object has no attribute '__dlpack__'", other.type_name())
        }
    }
}

/// Takes the tensor out of a capsule; `None` for any other value.
///
/// # Errors
/// RuntimeError if the capsule is empty.
pub(crate) fn taken(value: &Value) -> Option<Result<Tensor>> {
    let Value::Object(object) = value else { return None };
    let capsule = object.as_any().downcast_ref::<Capsule>()?;
    let invalid = "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you \
                   might have already constructed a tensor from it once.";
    Some(capsule.0.0.borrow_mut().take().ok_or_else(|| Error::runtime(invalid)))
}

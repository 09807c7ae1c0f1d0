//! Layouts changed by hand: whatever the changes, every element lies in the storage, addresses are the layout's, and the
//! line of code that is offered makes the layout.

use proptest::prelude::*;
use tensorsh::explain::turn::{Change, Turn};
use tensorsh::explain::{Holder, Shown};
use tensorsh::session::{Language, Session, SessionOptions};
use tensorsh::tensor::{DType, Layout, Scalar, Storage, Tensor, View};
use tensorsh::value::{ArrayMemory, Value};

const DTYPES: &[DType] = &[DType::Byte, DType::Short, DType::Float, DType::Double, DType::ComplexFloat];

/// The number of float32 elements of the storage.
const CELLS: i64 = 24;

fn change() -> impl Strategy<Value = Change> {
    let dim = 0usize..4;
    prop_oneof![
        3 => (dim.clone(), 0i64..8).prop_map(|(dim, size)| Change::Size(dim, size)),
        3 => (dim.clone(), -9i64..14).prop_map(|(dim, stride)| Change::Stride(dim, stride)),
        2 => (-2i64..30).prop_map(Change::Offset),
        1 => prop::sample::select(DTYPES).prop_map(Change::DType),
        1 => dim.clone().prop_map(Change::Add),
        1 => dim.clone().prop_map(Change::Remove),
        2 => (dim.clone(), dim).prop_map(|(a, b)| Change::Swap(a, b)),
    ]
}

fn tensor(sizes: &[i64]) -> Turn {
    let view = View::from_scalars(&[CELLS], DType::Float, (0..CELLS).map(Scalar::Int)).unwrap();
    let layout = Layout::contiguous(sizes);
    Turn::of(&Value::Tensor(Tensor::new(view.with_layout(layout)))).unwrap()
}

/// An array of the same bytes. It is turned like a tensor, but in bytes and also backwards.
struct Array(ArrayMemory);

impl tensorsh::value::Object for Array {
    fn memory(&self) -> Option<ArrayMemory> {
        Some(self.0.clone())
    }
}

fn array(sizes: &[i64]) -> Turn {
    let storage = Storage::from_bytes(&(0..CELLS as u8 * 4).collect::<Vec<_>>()).unwrap();
    let mut layout = Layout::contiguous(sizes);
    layout.strides.iter_mut().for_each(|stride| *stride *= 4);
    let array = ArrayMemory {
        storage,
        dtype: DType::Float,
        swapped: false,
        dtype_name: "float32".to_owned(),
        layout,
        is_writeable: true,
        owns_data: true,
    };
    Turn::of(&Value::Object(std::rc::Rc::new(Array(array)))).unwrap()
}

/// Returns the first and the last byte of every element, found by walking.
fn bytes(turn: &Turn) -> Vec<(i64, i64)> {
    let unit = if turn.is_array() { 1 } else { turn.dtype().itemsize() as i64 };
    let size = turn.dtype().itemsize() as i64;
    turn.layout().offsets().map(|place| (place * unit, place * unit + size - 1)).collect()
}

/// Carries out a change and checks all that is promised about it.
fn step(turn: &mut Turn, change: Change) {
    let before = turn.clone();
    let end = CELLS * 4;
    match turn.apply(change) {
        Ok(()) => {
            assert!(bytes(turn).iter().all(|(first, last)| *first >= 0 && *last < end), "{change:?} {turn:?}");
        }
        Err(why) => {
            assert_eq!((turn.layout(), turn.dtype()), (before.layout(), before.dtype()), "{change:?}");
            // What is refused for leaving the storage would have left it.
            if why.contains(" would reach ") && !why.starts_with("a dimension") {
                let mut layout = before.layout().clone();
                match change {
                    Change::Size(dim, size) => layout.sizes[dim] = size,
                    Change::Stride(dim, stride) => layout.strides[dim] = stride,
                    Change::Offset(offset) => layout.offset = offset,
                    other => panic!("{other:?}: {why}"),
                }
                let unit = if turn.is_array() { 1 } else { turn.dtype().itemsize() as i64 };
                let size = turn.dtype().itemsize() as i64;
                let leaves = |place: i64| place < 0 || place * unit + size > end;
                assert!(layout.offset < 0 || layout.offsets().any(leaves), "{change:?} {before:?}: {why}");
            }
        }
    }
    let layout = turn.layout();
    let order = turn.order(1000);
    assert_eq!(
        order.iter().map(|visit| visit.place).collect::<Vec<_>>(),
        layout.offsets().take(1000).collect::<Vec<_>>()
    );
    for visit in order {
        let last = visit.text.rsplit([' ', '=']).next().unwrap();
        assert_eq!(last.parse(), Ok(visit.place), "{}", visit.text);
    }
}

/// Returns the variable that has the layout as it is now.
fn variable(name: &str, turn: &Turn) -> Holder {
    let size = turn.dtype().itemsize() as i64;
    let unit = if turn.is_array() { 1 } else { size };
    let layout = Layout {
        sizes: turn.layout().sizes.clone(),
        strides: turn.layout().strides.iter().map(|stride| stride * unit).collect(),
        offset: turn.layout().offset * unit,
    };
    let shown = Shown { dtype: turn.dtype().name().to_owned(), itemsize: size as usize, layout };
    let class = if turn.is_array() { "ndarray" } else { "" };
    Holder::new(name.to_owned(), class, turn.storage().clone(), Some(shown), 0)
}

/// Turns a tensor or an array by `changes` and checks every line of code that is offered for the result.
fn check_codes(sizes: &[i64], is_array: bool, changes: Vec<Change>) {
    let mut turn = if is_array { array(sizes) } else { tensor(sizes) };
    let module = if is_array { "np" } else { "torch" };
    let mut session = Session::new(SessionOptions::default());
    let numel: i64 = sizes.iter().product();
    let sized = format!("({})", sizes.iter().map(|size| format!("{size},")).collect::<String>());
    let shaped = match is_array {
        true => format!("np.ndarray({sized}, np.float32, np.arange({CELLS}, dtype=np.float32))"),
        false => format!("torch.arange({CELLS}, dtype=torch.float32)[:{numel}].view({sized})"),
    };
    let made =
        format!("import torch\nimport numpy as np\nx = {shaped}\nat = lambda a: a.__array_interface__['data'][0]\n");
    assert_eq!(session.eval(Language::Python, &made).error, None, "{made}");
    let x = variable("x", &turn);
    for change in changes {
        let _ = turn.apply(change);
    }
    let base = turn.base(&[x]).expect("x is on the storage");
    for code in turn.codes(&base) {
        let ask = match is_array {
            true => format!("v = {code}\n(v.shape, v.strides, at(v) - at(x), str(v.dtype))"),
            false => format!("v = {code}\n(tuple(v.size()), v.stride(), v.storage_offset(), str(v.dtype))"),
        };
        let outcome = session.eval(Language::Python, &ask);
        assert_eq!(outcome.error, None, "{module}: {code}");
        let layout = turn.layout();
        let tuple = |numbers: &[i64]| match numbers {
            [one] => format!("({one},)"),
            numbers => format!("({})", numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")),
        };
        let dtype = if is_array { turn.dtype().name().to_owned() } else { format!("torch.{}", turn.dtype().name()) };
        let wanted = format!("({}, {}, {}, '{dtype}')\n", tuple(&layout.sizes), tuple(&layout.strides), layout.offset);
        assert_eq!(outcome.text, wanted, "{code}");
    }
}

// NumPy gives a dimension of size 1 another stride than PyTorch.
#[test]
fn reshape_of_an_array_has_numpys_strides() {
    check_codes(&[1, 6], true, vec![Change::Add(0), Change::Swap(2, 0)]);
    check_codes(&[1, 6], true, vec![Change::Add(0)]);
    check_codes(&[2, 3, 4], true, vec![Change::Size(1, 1), Change::Swap(0, 1)]);
}

fn shapes() -> impl Strategy<Value = Vec<i64>> {
    prop::sample::select(vec![vec![24], vec![2, 3], vec![3, 8], vec![2, 3, 4], vec![1, 6], vec![0, 4], vec![]])
}

proptest! {
    #[test]
    fn no_change_leaves_the_storage(
        sizes in shapes(), is_array in any::<bool>(), changes in prop::collection::vec(change(), 1..24),
    ) {
        let mut turn = if is_array { array(&sizes) } else { tensor(&sizes) };
        changes.into_iter().for_each(|change| step(&mut turn, change));
    }

    #[test]
    fn the_line_of_code_makes_the_layout(
        sizes in shapes(), is_array in any::<bool>(), changes in prop::collection::vec(change(), 0..12),
    ) {
        check_codes(&sizes, is_array, changes);
    }
}

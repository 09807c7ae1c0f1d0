//! Random tensors of every dtype over a few shared storages, saved and loaded: everything about them is preserved.

use super::describe::describe;
use super::load_bytes;
use proptest::prelude::*;
use std::io::Cursor;
use tensorsh::files;
use tensorsh::tensor::{DType, Layout, Storage, Tensor, View};
use tensorsh::value::Value;

/// Number of bytes of each storage.
const NBYTES: usize = 240;

/// Sizes, strides and offset of a view inside a storage, possibly overlapping or expanded.
fn layouts() -> impl Strategy<Value = (Vec<i64>, Vec<i64>, i64)> {
    proptest::collection::vec((0..4i64, 0..3i64), 0..4).prop_flat_map(|dims| {
        let (sizes, strides): (Vec<i64>, Vec<i64>) = dims.into_iter().unzip();
        let reach: i64 = sizes.iter().zip(&strides).map(|(size, stride)| (size - 1).max(0) * stride).sum();
        // A storage has room for 15 of the widest elements, which have 16 bytes.
        let room = (NBYTES as i64 / 16 - 1 - reach).max(0);
        (Just(sizes), Just(strides), 0..=room)
    })
}

/// A storage: the index of its dtype, its bytes, and its views by sizes, strides, offset and flags.
type Group = (usize, Vec<u8>, Vec<(Vec<i64>, Vec<i64>, i64, u8)>);

fn tensors() -> impl Strategy<Value = Vec<Group>> {
    let bytes = proptest::collection::vec(any::<u8>(), NBYTES);
    let views = proptest::collection::vec((layouts(), any::<u8>()), 1..4).prop_map(|views| {
        views.into_iter().map(|((sizes, strides, offset), bits)| (sizes, strides, offset, bits)).collect()
    });
    proptest::collection::vec((0..DType::ALL.len(), bytes, views), 1..4)
}

proptest! {
    #[test]
    fn tensors_come_back_as_they_were(groups in tensors()) {
        let mut items = Vec::new();
        for (dtype, bytes, views) in groups {
            let (dtype, storage) = (DType::ALL[dtype], Storage::from_bytes(&bytes).unwrap());
            for (sizes, strides, offset, bits) in views {
                let layout = Layout { sizes: sizes.into(), strides: strides.into(), offset };
                let conj = bits & 1 > 0 && dtype.is_complex();
                let view = View { storage: storage.clone(), layout, dtype, conj, neg: bits & 2 > 0, form: None };
                prop_assume!(view.check_bounds().is_ok());
                let tensor = Tensor::new(view);
                let requires_grad = bits & 4 > 0 && dtype.is_differentiable();
                let tensor = match bits & 8 > 0 {
                    true => tensor.to_parameter(requires_grad),
                    false => {
                        tensor.autograd_mut(|meta| meta.requires_grad = requires_grad);
                        tensor
                    }
                };
                items.push(Value::Tensor(tensor.clone()));
                if bits & 16 > 0 {
                    items.push(Value::Tensor(tensor));
                }
            }
        }
        let value = Value::list(items);
        let mut bytes = Cursor::new(Vec::new());
        files::write(&value, "archive", &SaveOptions::default(), &mut bytes).unwrap();
        let loaded = load_bytes(&bytes.into_inner()).unwrap();
        prop_assert_eq!(describe(&loaded), describe(&value));
        // Tensors that were identical are identical again.
        let (Value::List(before), Value::List(after)) = (&value, &loaded) else { panic!("lists") };
        for i in 0..before.len() {
            for j in 0..before.len() {
                let is = |items: &[Value]| match (&items[i], &items[j]) {
                    (Value::Tensor(a), Value::Tensor(b)) => a.is(b),
                    _ => false,
                };
                prop_assert_eq!(is(&before.to_vec()), is(&after.to_vec()));
            }
        }
    }
}

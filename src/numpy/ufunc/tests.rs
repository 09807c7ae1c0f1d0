use super::*;
use crate::array::Array;
use crate::descr::Descr;
use tensor::{DType, Scalar};

fn ints(values: &[i64]) -> Operand {
    Operand::Array(Array::of(&values.iter().map(|&v| Scalar::Int(v)).collect::<Vec<_>>(), Descr::LONG).unwrap())
}

fn run(name: &str, inputs: &[Operand]) -> Vec<Scalar> {
    call(find(name).unwrap(), inputs, &Options::default()).unwrap().arrays[0].scalars().unwrap()
}

#[test]
fn names_and_loops() {
    assert_eq!(find("abs").unwrap().name, "absolute");
    assert_eq!(find("nosuch").map(|u| u.name), None);
    assert_eq!(find("add").unwrap().types()[..2], ["??->?", "bb->b"]);
    assert!(TABLE.iter().all(|u| find(u.name).is_some_and(|found| found.op == u.op)));
}

#[test]
fn simple_calls() {
    let two = Operand::Weak(crate::Weak::Integer, Scalar::Int(2));
    assert_eq!(run("add", &[ints(&[1, 2, 3]), two.clone()]), [3, 4, 5].map(Scalar::Int));
    assert_eq!(run("divide", &[ints(&[1, 2, 3]), two.clone()]), [0.5, 1.0, 1.5].map(Scalar::Float));
    assert_eq!(run("less", &[two, ints(&[1, 2, 3])]), [false, false, true].map(Scalar::Bool));
    assert_eq!(run("sin", &[ints(&[0])]), [Scalar::Float(0.0)]);
    let _ = DType::Bool;
}

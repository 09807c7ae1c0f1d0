//! Compares the fast path of a call with the general one, for every method of the table, and checks that attributes
//! hide no methods.

use super::registry;
use call::Receiver;
use call::bind::{Arguments, Bound};
use call::plain;
use call::registry::of_class;
use call::signature::Kind;
use num_complex::Complex;
use tensor::{DType, Device, Tensor, View};
use value::Value;

fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Size(a), Value::Size(b)) => a == b,
        (Value::Tensor(a), Value::Tensor(b)) => a.is(b),
        // Both paths take defaults from the signature.
        (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
}

#[test]
fn the_straight_way_ends_where_the_long_one_does() {
    let tensor = || View::zeros(&[2, 2], DType::Float, Device::CPU).map(Tensor::new).expect("four numbers");
    let this = tensor();
    let values = [Value::Int(1), Value::Int(0), Value::Float(0.5), Value::Bool(true), Value::Tensor(tensor())];
    let mut lists: Vec<Vec<Value>> = vec![vec![]];
    for length in 1..=3 {
        let longer = lists
            .iter()
            .filter(|list| list.len() == length - 1)
            .flat_map(|list| values.iter().map(move |value| [list.as_slice(), std::slice::from_ref(value)].concat()));
        lists.extend(longer.collect::<Vec<_>>());
    }
    let mut plain = 0;
    for family in registry().families() {
        let methods = family.find(Receiver::Class(Kind::Tensor)).filter(|methods| methods.is_parsed_by_torch());
        let Some(methods) = methods else { continue };
        for list in &lists {
            let mut bound = Bound::new();
            let Some(function) = plain::bind(&methods.functions, this.clone(), list.iter(), &mut bound) else {
                continue;
            };
            plain += 1;
            let positional = list.iter().cloned().collect();
            let arguments = Arguments { positional, keywords: Vec::new() };
            let receiver = Value::Tensor(this.clone());
            let mut long = Bound::new();
            let chosen = methods.bind(Some(&receiver), &arguments, &mut long);
            let chosen = chosen.map(|i| methods.functions[i].signature.key);
            assert_eq!(chosen.ok(), Some(function.signature.key), "{} with {} values", family.name, list.len());
            assert!(bound.len() == long.len() && bound.iter().zip(&long).all(|(a, b)| same(a, b)), "{}", family.name);
        }
    }
    assert!(plain > 1000, "only {plain} calls went the straight way");
    let mut plain_functions = 0;
    for family in registry().families() {
        let members = family.members().map(|(_, overloads)| overloads);
        for functions in members.filter(|overloads| overloads.are_functions_of_torch()) {
            for list in &lists {
                let mut bound = Bound::new();
                let Some(function) = plain::bind_function(&functions.functions, list.iter(), &mut bound) else {
                    continue;
                };
                plain_functions += 1;
                let arguments = Arguments { positional: list.iter().cloned().collect(), keywords: Vec::new() };
                let mut long = Bound::new();
                let chosen = functions.bind(None, &arguments, &mut long);
                let chosen = chosen.map(|i| functions.functions[i].signature.key);
                let name = family.name;
                assert_eq!(chosen.ok(), Some(function.signature.key), "torch.{name} with {} values", list.len());
                assert!(bound.len() == long.len() && bound.iter().zip(&long).all(|(a, b)| same(a, b)), "torch.{name}");
            }
        }
    }
    assert!(plain_functions > 1000, "only {plain_functions} calls of functions went the straight way");
}

/// An attribute is looked up before a method, so a class must not have both under one name.
#[test]
fn what_has_an_attribute_has_no_method_of_that_name() {
    let tensor = View::zeros(&[2, 2], DType::Float, Device::CPU).map(Tensor::new).expect("four numbers");
    let storage = tensor.borrow().storage.clone();
    let values = [
        Value::Storage(storage),
        Value::Tensor(tensor),
        Value::DType(DType::Float),
        Value::Device(Device::CPU),
        Value::Bool(true),
        Value::Int(1),
        Value::Float(0.5),
        Value::Complex(Complex::new(1.0, 2.0)),
    ];
    let mut found = 0;
    for value in &values {
        let kind = Kind::of(value).expect("a class of the table");
        for name in registry().names(Receiver::Class(kind)) {
            if of_class(registry().plain_attributes_of(name), kind).is_some() {
                found += 1;
                assert!((registry().methods.find)(value, name).is_none(), "{name} of {}", value.class_name());
            }
        }
    }
    assert!(found > 50, "only {found} attributes");
}

//! What `torch::calculation` says of one element of a result: its last number is the element, to the bit, for random
//! sizes, layouts and dtypes; and derivatives are those that a change of the input shows.

use proptest::prelude::*;
use std::rc::Rc;
use tensorsh::call::State;
use tensorsh::objects::calling::call_value;
use tensorsh::tensor::{DType, Dims, Scalar, Tensor, View};
use tensorsh::torch::calculation::{derivatives, of};
use tensorsh::torch::library::registry;
use tensorsh::value::{Value, as_tensor};

const DTYPES: [DType; 7] =
    [DType::Half, DType::BFloat16, DType::Float, DType::Double, DType::Char, DType::Int, DType::Long];

/// A tensor: sizes, how it lies in its storage, and where its numbers start.
#[derive(Clone, Debug)]
struct Operand {
    sizes: Vec<i64>,
    dtype: DType,
    layout: u8,
    seed: u64,
}

impl Operand {
    fn view(&self) -> View {
        let mut state = self.seed | 1;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let (word, exponent) = (state >> 11, (state >> 4 & 7) as i32);
            match self.dtype.is_integral(false) {
                true => Scalar::Int((state >> (64 - 8 * self.dtype.itemsize())) as i64),
                false => Scalar::Float((word as f64 / (1u64 << 52) as f64 - 0.9) * 2f64.powi(exponent - 4)),
            }
        };
        let mut full = |sizes: &[i64]| {
            let count: i64 = sizes.iter().product();
            View::from_scalars(sizes, self.dtype, (0..count).map(|_| next())).unwrap()
        };
        let sizes = &self.sizes;
        match self.layout {
            0 => full(sizes),
            1 => {
                let turned: Vec<i64> = sizes.iter().rev().copied().collect();
                let order: Vec<i64> = (0..sizes.len() as i64).rev().collect();
                let view = full(&turned);
                view.with_layout(view.layout.permute(&order).unwrap())
            }
            2 => {
                let wide: Vec<i64> = sizes.iter().map(|size| 2 * size + 1).collect();
                let view = full(&wide);
                let layout = (0..sizes.len()).fold(view.layout.clone(), |layout, d| layout.slice(d, Some(1), None, 2));
                view.with_layout(layout)
            }
            3 => {
                let mut wide = sizes.clone();
                *wide.last_mut().unwrap() += 3;
                let view = full(&wide);
                let last = sizes.len() - 1;
                view.with_layout(view.layout.slice(last, Some(2), Some(2 + sizes[last]), 1))
            }
            _ => {
                let mut narrow = sizes.clone();
                narrow[0] = 1;
                let view = full(&narrow);
                view.with_layout(view.layout.expand(sizes, "").unwrap())
            }
        }
    }
}

/// Sizes with some 2,000 elements at most, often at a limit of the kernels.
fn sizes() -> impl Strategy<Value = Vec<i64>> {
    let line = prop_oneof![
        1..2000i64,
        prop::sample::select(vec![
            31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025
        ])
    ];
    let side = prop_oneof![1..45i64, prop::sample::select(vec![7, 8, 9, 15, 16, 17, 31, 32, 33])];
    prop_oneof![
        line.clone().prop_map(|n| vec![n]),
        (side.clone(), side).prop_map(|(n, m)| vec![n, m]),
        (line, 1..4i64, any::<bool>()).prop_map(|(n, m, turn)| if turn { vec![m, n] } else { vec![n, m] }),
        (1..12i64, 1..14i64, 1..40i64).prop_map(|(n, m, p)| vec![n, m, p]),
    ]
}

fn operand() -> impl Strategy<Value = Operand> {
    (sizes(), prop::sample::select(DTYPES.to_vec()), 0..5u8, any::<u64>())
        .prop_map(|(sizes, dtype, layout, seed)| Operand { sizes, dtype, layout, seed })
}

fn tensor(view: View) -> Value {
    Value::Tensor(Tensor::new(view))
}

/// Calls a function, and compares the last number of the calculation with the element that `pick` chooses.
fn check(state: &State, key: &'static str, args: &[Value], pick: u64) -> Result<(), TestCaseError> {
    let function = state.registry.overload(key).unwrap();
    let name = key.split('.').next().unwrap();
    // The positional arguments, and the keywords that are given.
    let params = function.signature.params.iter().zip(args).filter(|(_, arg)| !matches!(arg, Value::None));
    let (mut positional, mut keywords) = (Vec::new(), Vec::new());
    for (param, arg) in params {
        match param.name {
            "dtype" | "alpha" => keywords.push((param.name.into(), arg.clone())),
            _ => positional.push(arg.clone()),
        }
    }
    let result = call_value(state, &Value::Function(name.into()), positional, keywords).unwrap();
    let view = as_tensor(&result).unwrap().view();
    let mut rest = pick;
    let index: Vec<i64> = view
        .sizes()
        .iter()
        .map(|&size| {
            let at = rest % size as u64;
            rest /= size as u64;
            at as i64
        })
        .collect();
    let found = of(state, key, args, &result, &index).unwrap().expect(key);
    let known = found.result();
    prop_assert!(known.is_some(), "{key} at {index:?}: {}", found.order());
    let at = index.iter().zip(view.strides()).fold(view.layout.offset, |at, (index, stride)| at + index * stride);
    let wanted = view.read(&view.memory().unwrap(), at);
    let same = match (known.unwrap(), wanted) {
        (Scalar::Float(a), Scalar::Float(b)) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
        (a, b) => a.to_i64() == b.to_i64(),
    };
    prop_assert!(same, "{key} at {index:?}: {known:?}, not {wanted:?}");
    // Every step that is drawn is what its operands give, rounded to nearest.
    for number in found.drawn() {
        let step = found.step(number).unwrap();
        if let (Some(exact), Some(rounding)) = (&step.exact, &step.rounding) {
            let stored = step.stored.to_f64();
            let [inner, outer] = [rounding.inner(), rounding.outer()].map(|side| side.to_f64());
            prop_assert!(
                stored == inner || stored == outer || stored.is_infinite(),
                "step {number}: {}",
                exact.decimal()
            );
        }
    }
    Ok(())
}

fn state() -> Rc<State> {
    let state = State::new(registry(), None);
    state.make_current();
    state
}

fn size(dims: &[i64]) -> Value {
    Value::Size(Dims::from_slice(dims))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn the_last_number_of_a_reduction_is_the_element(
        operand in operand(),
        dim in 0..3usize,
        keep in any::<bool>(),
        pick in any::<u64>(),
        cast in prop::option::of(prop::sample::select(DTYPES.to_vec())),
    ) {
        let state = state();
        let x = tensor(operand.view());
        let dim = (dim % operand.sizes.len()) as i64;
        let dtype = cast.map_or(Value::None, Value::DType);
        let keepdim = Value::Bool(keep);
        check(&state, "sum", &[x.clone(), dtype.clone()], pick)?;
        check(&state, "sum.dim_IntList", &[x.clone(), size(&[dim]), keepdim.clone(), dtype.clone()], pick)?;
        check(&state, "prod.dim_int", &[x.clone(), Value::Int(dim), keepdim.clone(), dtype.clone()], pick)?;
        check(&state, "cumsum", &[x.clone(), Value::Int(dim), dtype.clone()], pick)?;
        check(&state, "cumprod", &[x.clone(), Value::Int(dim), dtype], pick)?;
        check(&state, "amax", &[x.clone(), size(&[dim]), keepdim.clone()], pick)?;
        if operand.dtype.is_floating_point() {
            check(&state, "mean.dim", &[x.clone(), size(&[dim]), keepdim], pick)?;
            check(&state, "mean", &[x.clone(), Value::None], pick)?;
            if matches!(operand.dtype, DType::Float | DType::Double) {
                check(&state, "std", &[x, Value::Bool(true)], pick)?;
            }
        }
    }

    #[test]
    fn the_last_number_of_a_product_is_the_element(
        [n, m, p] in [1..14i64, 1..300i64, 1..14i64],
        dtype in prop::sample::select(DTYPES.to_vec()),
        layouts in [0..4u8, 0..4u8],
        seed in any::<u64>(),
        pick in any::<u64>(),
    ) {
        let state = state();
        let matrix = |sizes: [i64; 2], layout| {
            let operand = Operand { sizes: sizes.to_vec(), dtype, layout, seed: seed ^ sizes[0] as u64 };
            tensor(operand.view())
        };
        let (a, b) = (matrix([n, m], layouts[0]), matrix([m, p], layouts[1]));
        // The library behind large products, and behind a single number of 16 bits, has an order of its own.
        if n * p > 1 {
            check(&state, "mm", &[a.clone(), b.clone()], pick)?;
            check(&state, "matmul", &[a, b], pick)?;
        }
        let line = |seed| {
            let operand = Operand { sizes: vec![m], dtype, layout: layouts[0], seed };
            tensor(operand.view())
        };
        check(&state, "dot", &[line(seed), line(seed ^ 77)], pick)?;
    }

    #[test]
    fn the_result_of_a_single_step_is_the_element(operand in operand(), number in -3.0..3.0f64, pick in any::<u64>()) {
        let state = state();
        let x = tensor(operand.view());
        let row = tensor(Operand { sizes: vec![*operand.sizes.last().unwrap()], layout: 0, ..operand.clone() }.view());
        for key in ["add.Tensor", "sub.Tensor", "mul", "maximum"] {
            let mut args = vec![x.clone(), row.clone()];
            if key.contains("Tensor") {
                args.push(Value::Int(1));
            }
            check(&state, key, &args, pick)?;
        }
        if operand.dtype.is_floating_point() {
            check(&state, "div.Tensor", &[x.clone(), row], pick)?;
            check(&state, "mul", &[x.clone(), Value::Float(number)], pick)?;
            check(&state, "add.Tensor", &[x, Value::Float(number), Value::Int(1)], pick)?;
        }
    }
}

#[test]
fn derivatives_are_read_from_the_graph() {
    let state = state();
    let x = Tensor::new(View::from_scalars(&[2, 3], DType::Float, (1..7).map(Scalar::Int)).unwrap());
    x.autograd_mut(|meta| meta.requires_grad = true);
    let call = |name: &str, args: Vec<Value>| {
        let result = call_value(&state, &Value::Function(name.into()), args, Vec::new()).unwrap();
        as_tensor(&result).unwrap().clone()
    };
    let square = call("mul", vec![x.clone().into(), x.clone().into()]);
    let sums = call("sum", vec![square.clone().into(), size(&[1])]);
    for (output, index, wanted) in [
        (&sums, [1].as_slice(), [0.0, 0.0, 0.0, 8.0, 10.0, 12.0]),
        (&sums, &[0], [2.0, 4.0, 6.0, 0.0, 0.0, 0.0]),
        (&square, &[0, 2], [0.0, 0.0, 6.0, 0.0, 0.0, 0.0]),
    ] {
        let found = derivatives(&state, output, index, &x).unwrap().unwrap();
        let found: Vec<f64> = found.scalars().unwrap().into_iter().map(Scalar::to_f64).collect();
        assert_eq!(found, wanted, "{index:?}");
    }
    assert!(derivatives(&state, &sums, &[2], &x).is_err());
    let other = Tensor::new(View::from_scalars(&[1], DType::Float, [Scalar::Int(1)]).unwrap());
    other.autograd_mut(|meta| meta.requires_grad = true);
    assert!(derivatives(&state, &sums, &[0], &other).unwrap().is_none());
}

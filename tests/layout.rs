//! Properties of the layout algebra, over random windows on random tensors.

use proptest::prelude::*;
use tensorsh::tensor::iterate::walk;
use tensorsh::tensor::{Layout, Result};

/// A step from one window to another.
#[derive(Clone, Debug)]
enum Step {
    Transpose(usize, usize),
    Slice(usize, i64, i64),
    Select(usize),
    Unsqueeze(usize),
    Expand(usize),
}

fn apply(layout: &Layout, step: &Step) -> Result<Layout> {
    let n = layout.ndim();
    let at = |d: usize| d % n.max(1);
    Ok(match *step {
        Step::Transpose(a, b) if n > 0 => layout.transpose(at(a) as i64, at(b) as i64)?,
        Step::Slice(d, start, step) if n > 0 => layout.slice(at(d), Some(start), None, step),
        Step::Select(d) if n > 1 && layout.sizes[at(d)] > 0 => layout.select(at(d), layout.sizes[at(d)] - 1),
        Step::Unsqueeze(d) if n < 5 => layout.unsqueeze((d % (n + 1)) as i64)?,
        Step::Expand(d) if n > 0 && layout.sizes[at(d)] == 1 => {
            let mut sizes = layout.sizes.clone();
            sizes[at(d)] = 3;
            layout.expand(&sizes, "FloatTensor")?
        }
        _ => layout.clone(),
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0usize..5, 0usize..5).prop_map(|(a, b)| Step::Transpose(a, b)),
        (0usize..5, -2i64..3, 1i64..3).prop_map(|(d, start, step)| Step::Slice(d, start, step)),
        (0usize..5).prop_map(Step::Select),
        (0usize..5).prop_map(Step::Unsqueeze),
        (0usize..5).prop_map(Step::Expand),
    ]
}

/// A window reached from a row-major tensor in a few steps.
fn window() -> impl Strategy<Value = Layout> {
    (prop::collection::vec(0i64..5, 0..4), prop::collection::vec(step(), 0..5)).prop_map(|(sizes, steps)| {
        steps.iter().fold(Layout::contiguous(&sizes), |layout, step| apply(&layout, step).unwrap_or(layout))
    })
}

/// Returns a shape with the same number of elements, by splitting the count into factors.
fn shapes(numel: i64, choices: &[usize]) -> Vec<i64> {
    let mut rest = numel.max(1);
    let mut shape = Vec::new();
    for &choice in choices {
        let factors: Vec<i64> = (1..=rest).filter(|f| rest % f == 0).collect();
        let factor = factors[choice % factors.len()];
        shape.push(factor);
        rest /= factor;
    }
    shape.push(rest);
    if numel == 0 {
        shape.push(0);
    }
    shape
}

/// Returns the strides that show these addresses in these sizes, if there are any.
fn strides_of(offsets: &[i64], sizes: &[i64]) -> Option<Vec<i64>> {
    let mut step = 1usize;
    let mut strides = vec![0; sizes.len()];
    for d in (0..sizes.len()).rev() {
        if sizes[d] > 1 {
            strides[d] = offsets[step] - offsets[0];
        }
        step *= sizes[d] as usize;
    }
    let layout = Layout { sizes: sizes.into(), strides: strides.as_slice().into(), offset: offsets[0] };
    layout.offsets().eq(offsets.iter().copied()).then_some(strides)
}

proptest! {
    /// A view shows the same elements in the same order, and fails only if no strides could show them.
    #[test]
    fn view_keeps_the_order_of_elements(layout in window(), choices in prop::collection::vec(0usize..12, 0..4)) {
        let offsets: Vec<i64> = layout.offsets().collect();
        let shape = shapes(layout.numel(), &choices);
        match layout.view(&shape) {
            Ok(view) => prop_assert_eq!(view.offsets().collect::<Vec<_>>(), offsets),
            Err(_) => prop_assert_eq!(strides_of(&offsets, &shape), None),
        }
    }

    /// Every address shown is in the range used by bounds checks.
    #[test]
    fn storage_elements_bounds_every_address(layout in window()) {
        let needed = layout.storage_elements();
        prop_assert!(needed.is_ok());
        for offset in layout.offsets() {
            prop_assert!((0..needed.clone().unwrap_or(0)).contains(&offset));
        }
    }

    /// A contiguous layout reads consecutive addresses; a dense one reads each address once.
    #[test]
    fn contiguity_means_what_it_says(layout in window()) {
        let mut offsets: Vec<i64> = layout.offsets().collect();
        let consecutive = |offsets: &[i64]| offsets.windows(2).all(|pair| pair[1] == pair[0] + 1);
        prop_assert_eq!(layout.is_contiguous(), consecutive(&offsets));
        offsets.sort_unstable();
        prop_assert_eq!(layout.is_non_overlapping_and_dense(), consecutive(&offsets));
        if layout.has_internal_overlap() && !offsets.is_empty() {
            prop_assert!(offsets.windows(2).any(|pair| pair[0] == pair[1]));
        }
    }

    /// Walking a pair of operands visits every pair of addresses once, in any order.
    #[test]
    fn walk_visits_every_index_once(layout in window()) {
        let target = Layout::contiguous(&layout.sizes);
        let mut met = Vec::new();
        let walked = walk([&target, &layout], |run| {
            for i in 0..run.length as i64 {
                met.push((run.offset[0] + i * run.stride[0], run.offset[1] + i * run.stride[1]));
            }
            Ok(())
        });
        prop_assert_eq!(walked, Ok(()));
        met.sort_unstable();
        prop_assert_eq!(met, target.offsets().zip(layout.offsets()).collect::<Vec<_>>());
    }

    /// Transposing twice, or inserting and removing a dimension, changes nothing.
    #[test]
    fn inverses_cancel(layout in window(), a in 0usize..4, b in 0usize..4) {
        if layout.ndim() > 0 {
            let (a, b) = ((a % layout.ndim()) as i64, (b % layout.ndim()) as i64);
            let twice = layout.transpose(a, b).and_then(|l| l.transpose(a, b));
            prop_assert_eq!(twice, Ok(layout.clone()));
        }
        let d = a % (layout.ndim() + 1);
        let there_and_back = layout.unsqueeze(d as i64).map(|l| l.squeeze(|i| i == d));
        prop_assert_eq!(there_and_back, Ok(layout));
    }
}

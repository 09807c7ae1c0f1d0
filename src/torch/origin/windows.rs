//! Functions of windows that slide over the last dimensions: convolutions and averages.

use super::patterns::{index_of, ints, number_of};
use call::reads::{Finder, Part, Read, TracedCall};
use tensor::Dims;
use value::Value;

/// How a window slides over one dimension.
#[derive(Clone, Copy)]
struct Slide {
    width: i64,
    stride: i64,
    padding: i64,
    dilation: i64,
}

/// Reads a parameter with a number for each dimension, or one for all.
fn each(call: &TracedCall, name: &str, count: usize, otherwise: i64) -> Option<Vec<i64>> {
    let Some(value) = call.argument(name) else { return Some(vec![otherwise; count]) };
    let given = match value {
        Value::Int(number) => vec![*number],
        value => ints(value)?,
    };
    match given.as_slice() {
        [] => Some(vec![otherwise; count]),
        [one] => Some(vec![*one; count]),
        several => (several.len() == count).then(|| several.to_vec()),
    }
}

/// Walks the positions of an input under the window at a place of the result; each with its place in the window.
fn under<'w>(slides: &'w [Slide], place: &'w [i64], sizes: &'w [i64]) -> impl Iterator<Item = (Dims, Dims)> + 'w {
    let widths: Dims = slides.iter().map(|slide| slide.width).collect();
    (0..widths.iter().product::<i64>()).filter_map(move |number| {
        let within = index_of(number, &widths);
        let position: Dims = slides
            .iter()
            .zip(place)
            .zip(&within)
            .map(|((slide, at), within)| at * slide.stride - slide.padding + within * slide.dilation)
            .collect();
        let is_inside = position.iter().zip(sizes).all(|(at, size)| (0..*size).contains(at));
        is_inside.then_some((position, within))
    })
}

/// `conv1d`, `conv2d`, `conv3d`: input, weight, bias.
pub(crate) fn convolution(call: &TracedCall) -> Option<Finder> {
    let (input, weight) =
        (Dims::from_slice(call.tensors.first()?.sizes()), Dims::from_slice(call.tensors.get(1)?.sizes()));
    let shape = Dims::from_slice(call.outputs.first()?.sizes());
    let count = weight.len().checked_sub(2)?;
    let has_batch = input.len() == count + 2;
    let strides = each(call, "stride", count, 1)?;
    let dilations = each(call, "dilation", count, 1)?;
    let widths = weight.get(2..)?.to_vec();
    let paddings = match call.argument("padding") {
        Some(Value::Str(text)) if &**text == "valid" => vec![0; count],
        // The longer side of an uneven padding is the right one.
        Some(Value::Str(_)) => {
            widths.iter().zip(&dilations).map(|(width, dilation)| (width - 1) * dilation / 2).collect()
        }
        _ => each(call, "padding", count, 0)?,
    };
    let groups = match call.argument("groups") {
        Some(Value::Int(groups)) => *groups,
        _ => 1,
    };
    let slides: Vec<Slide> = (0..count)
        .map(|d| {
            let at = |all: &[i64]| all.get(d).copied().unwrap_or(1);
            Slide { width: at(&widths), stride: at(&strides), padding: at(&paddings), dilation: at(&dilations) }
        })
        .collect();
    let bias = call.tensor_of("bias");
    let (channels, per_group) = (*weight.first()?, *weight.get(1)?);
    Some(Box::new(move |_, element| {
        let index = index_of(element, &shape);
        let (outer, place) = index.split_at(usize::from(has_batch) + 1);
        let (Some(&channel), sizes) = (outer.last(), input.get(outer.len()..).unwrap_or_default()) else {
            return Vec::new();
        };
        let group = channel / (channels / groups.max(1)).max(1);
        let mut found = Vec::new();
        for within_group in 0..per_group {
            for (position, within) in under(&slides, place, sizes) {
                let mut read = outer.to_vec();
                if let Some(last) = read.last_mut() {
                    *last = group * per_group + within_group;
                }
                read.extend_from_slice(&position);
                let weight_index = [&[channel, within_group], within.as_slice()].concat();
                let of = |tensor, index: &[i64], sizes: &[i64]| Read {
                    tensor,
                    element: number_of(index, sizes),
                    part: Part::Taken,
                };
                found.push(of(0, &read, &input));
                found.push(of(1, &weight_index, &weight));
            }
        }
        found.extend(bias.map(|tensor| Read { tensor, element: channel, part: Part::Taken }));
        found
    }))
}

/// The windows of a pooling function over the last `count` dimensions.
fn pooled(call: &TracedCall, count: usize) -> Option<Vec<Slide>> {
    let widths = each(call, "kernel_size", count, 1)?;
    let strides = match call.argument("stride") {
        Some(value) if value.sequence().is_none_or(|items| !items.is_empty()) => each(call, "stride", count, 1)?,
        _ => widths.clone(),
    };
    let (paddings, dilations) = (each(call, "padding", count, 0)?, each(call, "dilation", count, 1)?);
    let slide = |d: usize| {
        let at = |all: &[i64]| all.get(d).copied().unwrap_or(1);
        Slide { width: at(&widths), stride: at(&strides), padding: at(&paddings), dilation: at(&dilations) }
    };
    Some((0..count).map(slide).collect())
}

/// `avg_pool1d` and its like.
pub(crate) fn avg_pool(call: &TracedCall) -> Option<Finder> {
    let count = dimensions(call)?;
    let slides = pooled(call, count)?;
    let input = Dims::from_slice(call.tensors.first()?.sizes());
    let shape = Dims::from_slice(call.outputs.first()?.sizes());
    let outer_dims = input.len().checked_sub(count)?;
    Some(Box::new(move |_, element| {
        let index = index_of(element, &shape);
        let (outer, place) = index.split_at(outer_dims.min(index.len()));
        let sizes = input.get(outer_dims..).unwrap_or_default();
        let read = |position: Dims| {
            let element = number_of(&[outer, position.as_slice()].concat(), &input);
            Read { tensor: 0, element, part: Part::Taken }
        };
        under(&slides, place, sizes).map(|(position, _)| read(position)).collect()
    }))
}

/// Returns the number of dimensions that a pooling function slides over, from its name: `max_pool2d`.
fn dimensions(call: &TracedCall) -> Option<usize> {
    call.signature.name.chars().find_map(|c| c.to_digit(10)).map(|count| count as usize)
}

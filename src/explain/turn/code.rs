//! The line of code that makes a layout from a variable: `x.t()`, `x[:, ::2]`, or `x.as_strided((2, 3), (1, 2), 0)`. Every
//! candidate is computed by the core's own functions and compared, so a line is offered only if its result is the layout.

use super::super::aliases::Holder;
use super::super::scene::tuple;
use super::{Turn, Turned, dtype_named, joined};
use tensor::layout::contiguous_strides;
use tensor::{DType, Dims, Layout, View};

/// The maximum number of dimensions whose orders are compared.
const PERMUTED: usize = 4;

/// A variable that lines of code begin with.
#[derive(Clone, Debug)]
pub struct Base {
    /// The variable, or an item of one: `xs[0]`.
    pub name: String,
    turn: Turn,
}

/// An expression in Python with the layout of its value.
struct Made {
    code: String,
    layout: Layout,
}

impl Turn {
    /// Returns the variable to begin with: the one that needs the shortest line. `None` if no variable is on the storage.
    pub fn base(&self, holders: &[Holder]) -> Option<Base> {
        let bases = holders.iter().filter(|holder| holder.storage == *self.storage()).filter_map(|holder| {
            let turn = self.of_holder(holder)?;
            Some(Base { name: holder.name.clone(), turn })
        });
        bases.min_by_key(|base| self.codes(base).first().map(String::len))
    }

    /// Returns the layout of a variable of the same kind on the same storage.
    fn of_holder(&self, holder: &Holder) -> Option<Turn> {
        let shown = holder.shown.as_ref()?;
        match &self.0 {
            Turned::Tensor(view) if holder.class.is_empty() => {
                let dtype = dtype_named(&shown.dtype)?;
                let size = dtype.itemsize() as i64;
                let layout = Layout {
                    sizes: shown.layout.sizes.clone(),
                    strides: shown.layout.strides.iter().map(|stride| stride / size).collect(),
                    offset: shown.layout.offset / size,
                };
                Some(Turn(Turned::Tensor(View { layout, dtype, ..view.clone() })))
            }
            Turned::Array(array) if holder.class == "ndarray" => {
                let dtype = dtype_named(&shown.dtype)?;
                let (layout, dtype_name) = (shown.layout.clone(), shown.dtype.clone());
                let array = value::ArrayMemory { layout, dtype, dtype_name, swapped: false, ..array.clone() };
                Some(Turn(Turned::Array(array)))
            }
            _ => None,
        }
    }

    /// Returns lines of Python that make this layout from a variable, the simplest first. For a tensor, the last one always
    /// works: `as_strided`, or for another dtype what takes any bytes.
    pub fn codes(&self, base: &Base) -> Vec<String> {
        let start = Made { code: base.name.clone(), layout: base.turn.layout().clone() };
        let target = self.layout();
        let simplest = |start: &Made, turn: &Turn| {
            let found = turn.candidates(start, target).into_iter().filter(|made| made.layout == *target);
            found.map(|made| made.code).min_by_key(String::len)
        };
        let mut codes = Vec::new();
        let dtype = self.dtype();
        if dtype == base.turn.dtype() {
            codes.extend(simplest(&start, self));
        } else {
            let name = self.dtype_in_code();
            // The bytes are read as another dtype before or after the other steps.
            let read = |made: Made| {
                let viewed = base.turn.with(made.layout, base.turn.dtype()).ok()?.read_as(dtype).ok()?;
                Some(Made { code: format!("{}.view({name})", made.code), layout: viewed.layout().clone() })
            };
            let after = base.turn.reordered(&start).into_iter().filter_map(&read);
            codes.extend(after.filter(|made| made.layout == *target).map(|made| made.code).min_by_key(String::len));
            if let Some(viewed) = read(Made { code: base.name.clone(), layout: start.layout.clone() }) {
                if codes.is_empty() {
                    codes.extend(simplest(&viewed, self));
                }
                if !self.is_array() {
                    codes.push(strided(&viewed.code, target));
                    return codes;
                }
            }
        }
        codes.extend(self.any_layout(base));
        codes
    }

    fn dtype_in_code(&self) -> String {
        let module = if self.is_array() { "np" } else { "torch" };
        match self.dtype() {
            DType::Bool if self.is_array() => "np.bool_".to_owned(),
            dtype => format!("{module}.{}", dtype.name()),
        }
    }

    /// Returns a line that takes any layout over the storage. An array's must lie within the bytes of the variable, which
    /// must be without gaps.
    fn any_layout(&self, base: &Base) -> Option<String> {
        let (layout, name) = (self.layout(), &base.name);
        let (sizes, strides) = (tuple(&layout.sizes), tuple(&layout.strides));
        Some(match &self.0 {
            Turned::Tensor(_) if self.dtype() == base.turn.dtype() => strided(name, layout),
            Turned::Tensor(_) => format!(
                "torch.empty(0, dtype={}).set_({name}.untyped_storage(), {}, {sizes}, {strides})",
                self.dtype_in_code(),
                layout.offset
            ),
            Turned::Array(_) => {
                let (own, size) = (base.turn.layout(), base.turn.step());
                let dense = contiguous_strides(&own.sizes).iter().map(|stride| stride * size).collect::<Dims>();
                let (low, high) = layout.reach().unwrap_or((layout.offset, layout.offset));
                let end = own.offset.saturating_add(own.numel().saturating_mul(size));
                let fits = low >= own.offset && high - 1 + self.step() <= end;
                if own.strides != dense || !fits {
                    return None;
                }
                let (dtype, offset) = (self.dtype_in_code(), layout.offset - own.offset);
                format!("np.ndarray({sizes}, {dtype}, {name}, {offset}, {strides})")
            }
        })
    }

    /// Returns a line that writes a byte.
    pub fn byte_code(&self, base: &Base, byte: usize, value: u8) -> Option<String> {
        (!self.is_array()).then(|| format!("{}.untyped_storage()[{byte}] = {value}", base.name))
    }

    /// Returns the tensor itself, and its dimensions in every other order.
    fn reordered(&self, start: &Made) -> Vec<Made> {
        let Made { code, layout } = start;
        let ndim = layout.ndim();
        let mut made = vec![Made { code: code.clone(), layout: layout.clone() }];
        if !(2..=PERMUTED).contains(&ndim) {
            return made;
        }
        for order in orders(ndim).into_iter().skip(1) {
            let dims: Dims = order.iter().map(|d| *d as i64).collect();
            let Ok(layout) = layout.permute(&dims) else { continue };
            let moved: Vec<usize> = (0..ndim).filter(|d| order.get(*d) != Some(d)).collect();
            let call = match (self.is_array(), moved.as_slice()) {
                (true, _) if order.iter().rev().copied().eq(0..ndim) => "T".to_owned(),
                (false, _) if ndim == 2 => "t()".to_owned(),
                (false, [a, b]) => format!("transpose({a}, {b})"),
                (false, _) => format!("permute({})", joined(&dims)),
                (true, _) => format!("transpose({})", joined(&dims)),
            };
            made.push(Made { code: format!("{code}.{call}"), layout });
        }
        made
    }

    /// Returns expressions whose layout may be the target.
    fn candidates(&self, start: &Made, target: &Layout) -> Vec<Made> {
        let mut all = Vec::new();
        for made in self.reordered(start) {
            let Made { code, layout } = &made;
            let then = |call: String, layout: Layout| Made { code: format!("{code}{call}"), layout };
            let call = if self.is_array() { "reshape" } else { "view" };
            if layout.numel() == target.numel()
                && layout.numel() > 0
                && let Some(viewed) = self.with_unchecked(layout.clone()).viewed(&target.sizes)
            {
                all.push(then(format!(".{call}({})", joined(&target.sizes)), viewed));
            }
            if let Some(mut subscript) = subscript(layout, target) {
                // An index alone makes a scalar of NumPy, which has its own memory.
                if self.is_array() && target.ndim() == 0 {
                    subscript = subscript.replace(']', ", ...]");
                }
                all.push(then(subscript, target.clone()));
            }
            if !self.is_array() {
                all.extend(
                    layout
                        .expand(&target.sizes, "")
                        .ok()
                        .map(|to| then(format!(".expand({})", joined(&target.sizes)), to)),
                );
                let added = (0..=layout.ndim() as i64).filter_map(|dim| Some((dim, layout.unsqueeze(dim).ok()?)));
                all.extend(added.map(|(dim, to)| then(format!(".unsqueeze({dim})"), to)));
                all.extend(
                    (0..layout.ndim())
                        .map(|dim| then(format!(".squeeze({dim})"), layout.squeeze(|chosen| chosen == dim))),
                );
            }
            all.push(made);
        }
        all
    }
}

fn strided(code: &str, layout: &Layout) -> String {
    format!("{code}.as_strided({}, {}, {})", tuple(&layout.sizes), tuple(&layout.strides), layout.offset)
}

/// Returns the subscript that leads from one layout to another, by indices and slices of its dimensions.
fn subscript(from: &Layout, to: &Layout) -> Option<String> {
    if from.numel() == 0 || to.numel() == 0 {
        return None;
    }
    match from.ndim().checked_sub(to.ndim())? {
        0 => sliced(from, to, None),
        1 => (0..from.ndim()).find_map(|dim| sliced(from, to, Some(dim))),
        _ => None,
    }
}

/// Like [`subscript`], with an index at dimension `taken`, if any.
fn sliced(from: &Layout, to: &Layout, taken: Option<usize>) -> Option<String> {
    // The larger strides take as much of the way as they can, so that the smaller ones can take the rest.
    let mut dims: Vec<usize> = (0..from.ndim()).collect();
    dims.sort_by_key(|&d| std::cmp::Reverse(from.strides.get(d).map(|stride| stride.unsigned_abs())));
    let mut ahead = to.offset.checked_sub(from.offset)?;
    let mut parts = vec![String::new(); from.ndim()];
    for d in dims {
        let (size, stride) = (*from.sizes.get(d)?, *from.strides.get(d)?);
        let (length, step) = match taken {
            Some(taken) if taken == d => (1, 1),
            _ => {
                let at = d - usize::from(taken.is_some_and(|taken| taken < d));
                let (length, step) = (*to.sizes.get(at)?, *to.strides.get(at)?);
                let ratio = if stride == 0 { i64::from(step == 0) } else { step.checked_div(stride)? };
                if ratio.checked_mul(stride) != Some(step) || ratio == 0 {
                    return None;
                }
                (length, ratio)
            }
        };
        let reach = (length - 1).checked_mul(step)?;
        // The first index, so that all of them are in the dimension.
        let (least, most) = if step > 0 { (0, size - 1 - reach) } else { (-reach, size - 1) };
        if least > most {
            return None;
        }
        let start = if stride == 0 { least } else { (ahead / stride).clamp(least, most) };
        ahead = ahead.checked_sub(start.checked_mul(stride)?)?;
        let text = if taken == Some(d) { start.to_string() } else { slice(start, length, step, size) };
        *parts.get_mut(d)? = text;
    }
    if ahead != 0 {
        return None;
    }
    while parts.len() > 1 && parts.last().is_some_and(|part| part == ":") {
        parts.pop();
    }
    Some(format!("[{}]", parts.join(", ")))
}

/// Writes a slice of `length` indices from `start` in a dimension of a size.
fn slice(start: i64, length: i64, step: i64, size: i64) -> String {
    let last = start + (length - 1) * step;
    let (mut from, mut to) = (start.to_string(), (last + step.signum()).to_string());
    if step > 0 && start == 0 || step < 0 && start == size - 1 {
        from.clear();
    }
    if step > 0 && last + step >= size || step < 0 && last + step < 0 {
        to.clear();
    }
    match step {
        1 => format!("{from}:{to}"),
        step => format!("{from}:{to}:{step}"),
    }
}

/// Returns every order of the first `count` numbers; the first is ascending.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..count {
        let longer = |order: Vec<usize>| {
            (0..count).filter(|d| !order.contains(d)).map(|d| [&*order, &[d]].concat()).collect::<Vec<_>>()
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

//! What becomes of a number that a dtype cannot hold: the neighbours, the rule that chose between them, and what is lost.

use super::element;
use super::exact::{Exact, Format, Rounding};
use super::scene::{Ink, Scene, span};
use tensor::element::{integer_limits, largest_finite};
use tensor::{DType, Scalar};

/// The digits of an exact value.
const DIGITS: usize = 40;

/// Adds what happened to `asked` when it was stored as `stored`. Adds nothing if it is stored exactly.
pub(super) fn explain(scene: &mut Scene, asked: Scalar, stored: Scalar, dtype: DType) {
    let Some(wanted) = Exact::of(asked) else { return };
    if Exact::of(stored).is_some_and(|stored| stored == wanted) || dtype == DType::Bool {
        return;
    }
    match Format::of(dtype) {
        Some(format) => float(scene, (asked, wanted), stored.to_f64(), (dtype, format)),
        None if dtype.is_integral(false) => integer(scene, asked, &wanted, stored, dtype),
        None => {}
    }
}

fn float(scene: &mut Scene, (asked, wanted): (Scalar, Exact), stored: f64, (dtype, format): (DType, Format)) {
    let name = element::exact(asked, DType::Double);
    let text = |exact: &Exact| exact.short(DIGITS);
    let rounding = Rounding::new(&wanted, format);
    let largest = Exact::of(Scalar::Float(largest_finite(dtype)));
    scene.heading("What was asked for");
    if let Some(largest) = largest.filter(|_| !stored.is_finite()) {
        let gap = Rounding::new(&largest, format).gap();
        let half = gap.over(&Exact::integer(2)).unwrap_or(gap);
        let became = element::exact(Scalar::Float(stored), dtype);
        let limit = largest.plus(&half);
        let goes_up = Rounding::new(&limit, format).nearest() != largest;
        let (largest, limit) = (text(&largest), text(&limit));
        let sign = if wanted.is_negative() { "-" } else { "" };
        let beyond = if goes_up { format!("From {sign}{limit} on") } else { format!("Beyond {sign}{limit}") };
        let text = format!(
            "{name} is beyond {sign}{largest}, the largest {}. {beyond}, half a gap further, numbers become {became}.",
            dtype.name()
        );
        return scene.note(Ink::Fault, text);
    }
    let is_inner = Exact::of(Scalar::Float(stored)).is_some_and(|stored| stored == rounding.inner());
    let mut sides = [(rounding.inner(), is_inner), (rounding.outer(), !is_inner)];
    if wanted.is_negative() {
        sides.reverse();
    }
    let [below, above] = sides.map(|(neighbour, is_stored)| match is_stored {
        true => span(Ink::Shown, format!("{}, stored", text(&neighbour))),
        false => span(Ink::Plain, text(&neighbour)),
    });
    let lost = Exact::of(Scalar::Float(stored)).map_or_else(String::new, |stored| text(&wanted.minus(&stored)));
    let (kept, dropped) = rounding.bits();
    let rule = rounding.in_words(stored);
    scene.facts(
        [
            ("asked for", span(Ink::Plain, text(&wanted))),
            ("below", below),
            ("above", above),
            ("gap", span(Ink::Plain, format!("2^{} = {}", rounding.power, text(&rounding.gap())))),
            ("lost", span(Ink::Fault, lost)),
            ("kept | dropped", span(Ink::Plain, format!("{kept}|{dropped} {rule}"))),
        ]
        .map(|(label, what)| (label.to_owned(), what))
        .to_vec(),
    );
    if rounding.is_tie() {
        let [inner, outer] = [rounding.inner(), rounding.outer()].map(|neighbour| text(&neighbour));
        let even = text(&rounding.nearest());
        scene.note(
            Ink::Plain,
            format!(
                "{name} is halfway between {inner} and {outer}. A tie goes to the neighbour whose last bit is 0: {even}."
            ),
        );
    } else if Exact::of(Scalar::Float(stored)).is_some_and(|stored| stored != rounding.nearest()) {
        let name = dtype.name();
        scene.note(Ink::Plain, format!("Rounded twice, as in PyTorch: to float32 first, and then to {name}."));
    } else if stored == 0.0 {
        let (sign, which) = if wanted.is_negative() { ("-", "greatest negative") } else { ("", "least positive") };
        let (power, dtype) = (format.lowest, dtype.name());
        scene.note(Ink::Plain, format!("{name} is nearer to 0 than to {sign}2^{power}, the {which} {dtype}."));
    }
}

fn integer(scene: &mut Scene, asked: Scalar, wanted: &Exact, stored: Scalar, dtype: DType) {
    let (least, most) = integer_limits(dtype);
    let (name, bits) = (element::exact(asked, DType::Double), 8 * dtype.itemsize());
    let kept = element::exact(stored, dtype);
    scene.heading("What was asked for");
    if !wanted.is_integer() {
        return scene.note(Ink::Plain, format!("{} holds whole numbers: of {name}, {kept} is kept.", dtype.name()));
    }
    scene.note(
        Ink::Fault,
        format!(
            "{name} does not fit {}, which holds {least} to {most}. The lowest {bits} bits are kept: {kept}.",
            dtype.name()
        ),
    );
}

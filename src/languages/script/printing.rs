//! The text of values in the script language: the output of `print` and `debug`, and values embedded in strings.

use super::caught::Caught;
use super::fault;
use super::runtime::Runtime;
use super::values::{class_ids, is_range, to_value};
use rhai::{Dynamic, Engine, ImmutableString, NativeCallContext};
use std::any::TypeId;
use std::rc::Rc;
use tensor::Result;

/// Makes `print`, `debug` and string conversion agree for all values.
pub(crate) fn register(engine: &mut Engine, state: &Rc<Runtime>) {
    // Rhai's own functions for a single plain value would take precedence over those for any value.
    let plain = own_ids().into_iter().map(|class| vec![class]);
    for types in (0..=16).map(super::native::any).chain(plain) {
        let this = state.clone();
        // The engine expects `print` to return a string, which it passes to `on_print` for output.
        engine.register_raw_fn("print", types, move |_: NativeCallContext, args: &mut [&mut Dynamic]| {
            print_text(&this, args).map_err(fault::thrown)
        });
    }
    let this = state.clone();
    engine.on_print(move |text| this.print(text));
    let this = state.clone();
    engine.on_debug(move |text, _, _| this.print(&format!("{text}\n")));
    for class in class_ids().into_iter().chain([TypeId::of::<fault::Thrown>(), TypeId::of::<Caught>()]) {
        for name in ["to_string", "to_debug"] {
            let this = state.clone();
            engine.register_raw_fn(name, [class], move |_: NativeCallContext, args: &mut [&mut Dynamic]| {
                let text = args.first().map_or(Ok(String::new()), |v| to_value(v).and_then(|v| this.str(&v)));
                text.map_err(fault::thrown)
            });
        }
    }
    // `print(true)`, `${true}` and `true.to_string()` agree, and so do `debug` and `to_debug`.
    for class in own_ids() {
        for name in ["to_string", "to_debug", "debug"] {
            let this = state.clone();
            engine.register_raw_fn(name, [class], move |_: NativeCallContext, args: &mut [&mut Dynamic]| {
                let value = args.first().map(|value| &**value).unwrap_or(&Dynamic::UNIT);
                let text = if name == "to_string" { shown(&this, value) } else { quoted(&this, value) };
                text.map_err(fault::thrown)
            });
        }
    }
}

/// Returns the types of Rhai's own values.
fn own_ids() -> [TypeId; 12] {
    [
        TypeId::of::<ImmutableString>(),
        TypeId::of::<char>(),
        TypeId::of::<bool>(),
        TypeId::of::<()>(),
        TypeId::of::<f64>(),
        TypeId::of::<i64>(),
        TypeId::of::<rhai::Array>(),
        TypeId::of::<rhai::Map>(),
        TypeId::of::<rhai::FnPtr>(),
        TypeId::of::<std::ops::Range<i64>>(),
        TypeId::of::<std::ops::RangeInclusive<i64>>(),
        TypeId::of::<tensor::system::Moment>(),
    ]
}

/// Formats a value like `print`. A range prints as a range; it is a subscript only inside brackets.
pub(crate) fn shown(state: &Runtime, value: &Dynamic) -> Result<String> {
    if is_range(value) { Ok(value.to_string()) } else { state.str(&to_value(value)?) }
}

/// Formats a value like `debug`.
fn quoted(state: &Runtime, value: &Dynamic) -> Result<String> {
    if is_range(value) { Ok(value.to_string()) } else { state.repr(&to_value(value)?) }
}

/// Python's `print(*values, sep=" ", end="\n")`.
pub(crate) fn print_text(state: &Runtime, args: &[&mut Dynamic]) -> Result<String> {
    let (mut separator, mut end) = (" ".to_string(), "\n".to_string());
    let mut values = args;
    const KEYWORDS: &[&str] = &["sep", "end", "flush", "file"];
    if let Some((last, before)) = args.split_last()
        && let Some(map) = last.read_lock::<rhai::Map>()
        && !map.is_empty()
        && map.keys().all(|key| KEYWORDS.contains(&key.as_str()))
    {
        values = before;
        for (key, value) in map.iter() {
            let text = if value.is_unit() { None } else { Some(state.str(&to_value(value)?)?) };
            match key.as_str() {
                "sep" => separator = text.unwrap_or(separator),
                "end" => end = text.unwrap_or(end),
                _ => {}
            }
        }
    }
    let parts: Result<Vec<String>> = values.iter().map(|value| shown(state, value)).collect();
    Ok(parts?.join(&separator) + end.as_str())
}

//! Layouts changed by hand: the answer to "turn". The page keeps the numbers and sends them with every request; the
//! picture of the new layout is kept up to date like any other.

use super::page::Page;
use super::request::{Parsed, Request};
use super::stage::{COLUMNS, Stage};
use explain::svg;
use explain::tensors::Terms;
use explain::turn::{Change, Turn};
use serde_json::{Value, json};
use session::{Language, Picture, Session};

/// The parts of a picture to draw: bytes too, since they can be changed.
const TERMS: Terms = Terms { bytes: true, cells: 64 };
/// The maximum number of elements whose reading order is played.
const PLAYED: usize = 256;

impl Page {
    /// Changes the layout of a picture, or a byte of its storage.
    pub(super) fn turn(&mut self, request: &Request) -> Parsed<Value> {
        let (id, language) = (request.number("id")? as u64, request.language()?);
        let panel = request.field("panel").and_then(Value::as_u64);
        let (stage, is_trial) = self.stage_of(id);
        let recipe = |id| stage.pictures.borrow().recipe(id);
        let gone = || "this picture is no longer kept up to date; draw it again".to_owned();
        let recipe = panel.and_then(recipe).or_else(|| recipe(id)).ok_or_else(gone)?;
        let mut turn = recipe.turn().ok_or_else(gone)??;
        let mut stopped = None;
        if let Some(state) = request.field("state") {
            match numbers_of(state, &turn) {
                Ok(next) => turn = next,
                Err(why) => stopped = Some(why),
            }
        }
        // A change is one of the layout that the page shows.
        if let Some(change) = request.field("change").filter(|_| stopped.is_none()) {
            stopped = changed(change).and_then(|change| turn.apply(change)).err();
        }
        let byte = request.field("byte").and_then(Value::as_u64).and_then(|byte| usize::try_from(byte).ok());
        let byte = byte.unwrap_or_default();
        let set = request.field("set").and_then(Value::as_u64);
        let mut ran = None;
        if let Some(value) = set {
            let value = u8::try_from(value).map_err(|_| format!("a byte is from 0 to 255, not {value}"));
            match value.and_then(|value| self.write(&stage, is_trial, &turn, byte, value)) {
                Ok(line) => ran = line,
                Err(why) => stopped = Some(why),
            }
        }
        let seen = self.in_session(is_trial, Session::seen);
        let base = turn.base(&seen.holders);
        let codes: Vec<String> = base.as_ref().map(|base| turn.codes(base)).unwrap_or_default();
        let codes = match language {
            Language::Python => codes,
            Language::Rhai => self.in_session(is_trial, |session| {
                codes.iter().map(|code| session.rhai_form(code).unwrap_or_else(|_| format!(">>> {code}"))).collect()
            }),
        };
        let scene = turn.scene(&seen.holders, TERMS);
        let picture = Picture::of(scene.clone(), COLUMNS);
        let again = recipe.turned(&turn, TERMS).ok_or_else(gone)?;
        let panel = stage.pictures.borrow_mut().keep(panel, scene, again);
        let layout = turn.layout();
        let dtypes: Vec<&str> = turn.dtypes().map(|dtype| dtype.name()).collect();
        let order: Vec<Value> = turn.order(PLAYED).into_iter().map(|visit| json!([visit.place, visit.text])).collect();
        Ok(json!({
            "panel": panel,
            "svg": svg::draw(&picture.scene),
            "alt": picture.text().trim_end(),
            "state": {
                "size": layout.sizes.as_slice(), "stride": layout.strides.as_slice(), "offset": layout.offset,
                "dtype": turn.dtype().name(),
            },
            "unit": turn.unit(),
            "step": turn.step(),
            "unitBytes": turn.unit_bytes(),
            "dtypes": dtypes,
            "order": order,
            "codes": codes,
            "byte": byte,
            "value": turn.byte(byte).ok(),
            "nbytes": turn.storage().nbytes(),
            "stopped": stopped,
            "ran": ran,
        }))
    }

    /// Returns the stage of a picture, and whether it is that of the active exercise.
    fn stage_of(&self, id: u64) -> (Stage, bool) {
        let trial = self.trial.as_ref().map(|trial| trial.stage());
        match trial.filter(|stage| stage.pictures.borrow().recipe(id).is_some()) {
            Some(stage) => (stage.clone(), true),
            None => (self.stage.clone(), false),
        }
    }

    /// Calls `look` with the session that drew a picture.
    fn in_session<R>(&self, is_trial: bool, look: impl FnOnce(&Session) -> R) -> R {
        if is_trial { self.seeing(look) } else { look(&self.desk.session()) }
    }

    /// Writes a byte and redraws what shows it. If a variable is on the storage, an input of the session writes it, so that
    /// undo and transcripts know of it. Returns that input.
    fn write(
        &mut self,
        stage: &Stage,
        is_trial: bool,
        turn: &Turn,
        byte: usize,
        value: u8,
    ) -> Result<Option<String>, String> {
        turn.byte(byte)?;
        let holders = self.in_session(is_trial, |session| session.seen().holders);
        let line = turn.base(&holders).and_then(|base| turn.byte_code(&base, byte, value));
        if is_trial {
            let line = line.map_or(String::new(), |line| format!(": {line}"));
            return Err(format!("in an exercise, type the line that writes a byte{line}"));
        }
        drop(holders);
        match &line {
            Some(line) => {
                self.desk.set_language(Language::Python);
                self.desk.take(&mut self.stage, line);
            }
            None => turn.set_byte(byte, value)?,
        }
        stage.renew(&self.desk.session());
        Ok(line)
    }
}

/// Returns the layout with the numbers that the page kept.
fn numbers_of(state: &Value, turn: &Turn) -> Result<Turn, String> {
    let numbers = |name: &str| -> Option<Vec<i64>> { state.get(name)?.as_array()?.iter().map(Value::as_i64).collect() };
    let kept = || {
        let (size, stride) = (numbers("size")?, numbers("stride")?);
        Some((size, stride, state.get("offset")?.as_i64()?, state.get("dtype")?.as_str()?))
    };
    let (size, stride, offset, dtype) = kept().ok_or("a state has size, stride, offset and dtype")?;
    turn.with_numbers(&size, &stride, offset, dtype)
}

/// Reads a change: `["size", 0, 4]`, `["dtype", "int16"]`.
fn changed(change: &Value) -> Result<Change, String> {
    let words = change.as_array().map(Vec::as_slice).unwrap_or_default();
    let change = match words {
        [Value::String(name), Value::String(dtype)] if name == "dtype" => Change::dtype(dtype),
        [Value::String(name), numbers @ ..] => {
            let numbers: Option<Vec<i64>> = numbers.iter().map(Value::as_i64).collect();
            numbers.and_then(|numbers| Change::named(name, &numbers))
        }
        _ => None,
    };
    change.ok_or_else(|| "this is not a change of a layout".to_owned())
}

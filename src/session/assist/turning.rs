//! `:turn x`: a layout changed by hand. The form knows fields, keys and lines, but no terminal; without one, it says in
//! words what can be changed.

use explain::tensors::Terms;
use explain::turn::{Base, Change, Turn};
use explain::{Holder, Ink, Line, span, terminal};

/// The number of storage cells of which one row is drawn below the fields.
const CELLS: usize = 64;
/// The maximum number of elements whose reading order is played.
const PLAYED: usize = 4096;

/// What the keys do, on the last lines of a form.
const KEYS: [&str; 2] = [
    "arrows choose and change   a r s add, remove, swap a dimension   space n read",
    "b 3f set the byte   f 7 flip a bit   0 start over   Enter take the code   q leave",
];
const SHORT_KEYS: [&str; 1] = ["arrows a r s b f space n 0 Enter q"];

/// A key, as far as the form tells keys apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnKey {
    Up,
    Down,
    Left,
    Right,
    Enter,
    Leave,
    Char(char),
}

/// What a key asks of the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnStep {
    /// Draws the form again.
    Draw,
    /// Writes a byte, by this line of Python if there is one.
    Write { line: Option<String>, byte: usize, value: u8 },
    /// Leaves, with a line of Python for the prompt.
    Insert(String),
    /// Leaves.
    Leave,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Size(usize),
    Stride(usize),
    Offset,
    DType,
    Byte,
}

/// The digits typed so far of a number that a key has asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Asked {
    Nothing,
    /// Two hexadecimal digits.
    Byte(String),
    Bit,
}

/// A form for one variable.
pub struct TurnForm {
    name: String,
    turn: Turn,
    start: Turn,
    base: Option<Base>,
    field: usize,
    byte: usize,
    /// The number of elements read.
    read: usize,
    /// Whether the reading order plays by itself.
    pub is_playing: bool,
    asked: Asked,
    told: String,
}

impl TurnForm {
    /// Begins with the layout of the variable `name`.
    pub fn new(name: &str, turn: Turn, holders: &[Holder]) -> TurnForm {
        let own: Vec<Holder> = holders.iter().filter(|holder| holder.name == name).cloned().collect();
        let base = turn.base(&own).or_else(|| turn.base(holders));
        let (start, name, told) = (turn.clone(), name.to_owned(), String::new());
        let asked = Asked::Nothing;
        TurnForm { name, turn, start, base, field: 0, byte: 0, read: 0, is_playing: false, asked, told }
    }

    pub fn turn(&self) -> &Turn {
        &self.turn
    }

    /// Sets the sentence below the fields.
    pub fn tell(&mut self, told: impl Into<String>) {
        self.told = told.into();
    }

    fn fields(&self) -> Vec<Field> {
        let dims = (0..self.turn.layout().ndim()).flat_map(|d| [Field::Size(d), Field::Stride(d)]);
        dims.chain([Field::Offset, Field::DType, Field::Byte]).collect()
    }

    fn chosen(&self) -> Field {
        self.fields().get(self.field).copied().unwrap_or(Field::Byte)
    }

    /// Returns the lines of code that make the layout, the simplest first.
    fn codes(&self) -> Vec<String> {
        self.base.as_ref().map(|base| self.turn.codes(base)).unwrap_or_default()
    }

    /// Takes a key.
    pub fn press(&mut self, key: TurnKey) -> TurnStep {
        self.told.clear();
        let was_playing = std::mem::take(&mut self.is_playing);
        if let (TurnKey::Char(digit), asked) = (key, std::mem::replace(&mut self.asked, Asked::Nothing))
            && asked != Asked::Nothing
        {
            return self.typed(asked, digit);
        }
        let last = self.fields().len().saturating_sub(1);
        match key {
            TurnKey::Up => self.field = self.field.min(last).saturating_sub(1),
            TurnKey::Down => self.field = (self.field + 1).min(last),
            TurnKey::Left => self.change_by(-1),
            TurnKey::Right => self.change_by(1),
            TurnKey::Enter => match self.codes().into_iter().next() {
                Some(code) => return TurnStep::Insert(code),
                None => self.tell("no variable makes this layout in one line"),
            },
            TurnKey::Leave | TurnKey::Char('q') => return TurnStep::Leave,
            TurnKey::Char(' ') => {
                self.is_playing = !was_playing;
                self.next();
            }
            TurnKey::Char('n') => self.next(),
            TurnKey::Char('b') => self.asked = Asked::Byte(String::new()),
            TurnKey::Char('f') => self.asked = Asked::Bit,
            TurnKey::Char('a') => self.apply(Change::Add(0)),
            TurnKey::Char('0') => {
                self.turn = self.start.clone();
                self.read = 0;
            }
            TurnKey::Char('r') => self.with_dim(Change::Remove),
            TurnKey::Char('s') => self.with_dim(|dim| Change::Swap(dim, dim + 1)),
            TurnKey::Char(_) => self.tell("no key of the form"),
        }
        TurnStep::Draw
    }

    /// Takes a digit of the number that a key has asked for.
    fn typed(&mut self, asked: Asked, digit: char) -> TurnStep {
        let value = match (asked, digit.to_digit(16)) {
            (Asked::Bit, Some(bit)) => self.turn.flipped(self.byte, bit),
            (Asked::Byte(mut digits), Some(_)) => {
                digits.push(digit);
                if digits.len() < 2 {
                    self.asked = Asked::Byte(digits);
                    return TurnStep::Draw;
                }
                u8::from_str_radix(&digits, 16).map_err(|error| error.to_string())
            }
            (Asked::Bit, _) => Err("a bit is 0 to 7; bit 0 counts least".to_owned()),
            _ => Err("a byte is two digits from 0 to f".to_owned()),
        };
        match value {
            Ok(value) => {
                let byte = self.byte;
                let line = self.base.as_ref().and_then(|base| self.turn.byte_code(base, byte, value));
                TurnStep::Write { line, byte, value }
            }
            Err(why) => {
                self.tell(why);
                TurnStep::Draw
            }
        }
    }

    fn with_dim(&mut self, change: fn(usize) -> Change) {
        match self.chosen() {
            Field::Size(dim) | Field::Stride(dim) => self.apply(change(dim)),
            _ => self.tell("choose a size or a stride first: this key needs a dimension"),
        }
    }

    fn change_by(&mut self, sign: i64) {
        let layout = self.turn.layout();
        let at = |numbers: &[i64], dim: usize| numbers.get(dim).copied().unwrap_or_default();
        let step = sign * self.turn.step();
        let change = match self.chosen() {
            Field::Size(dim) => Change::Size(dim, at(&layout.sizes, dim) + sign),
            Field::Stride(dim) => Change::Stride(dim, at(&layout.strides, dim) + step),
            Field::Offset => Change::Offset(layout.offset + step),
            Field::DType => return self.next_dtype(sign),
            Field::Byte => {
                let last = self.turn.storage().nbytes().saturating_sub(1);
                self.byte = if sign < 0 { self.byte.saturating_sub(1) } else { (self.byte + 1).min(last) };
                return;
            }
        };
        self.apply(change);
    }

    /// Goes to the nearest dtype in one direction that reads these bytes.
    fn next_dtype(&mut self, sign: i64) {
        let mut dtypes: Vec<_> = self.turn.dtypes().collect();
        if sign < 0 {
            dtypes.reverse();
        }
        let own = self.turn.dtype();
        let after = dtypes.iter().skip_while(|dtype| **dtype != own).skip(1);
        let mut turn = self.turn.clone();
        match after.copied().find_map(|dtype| turn.apply(Change::DType(dtype)).ok().map(|()| dtype)) {
            Some(_) => (self.turn, self.read) = (turn, 0),
            None => self.tell("no further dtype reads these bytes in this layout"),
        }
    }

    fn apply(&mut self, change: Change) {
        match self.turn.apply(change) {
            Ok(()) => self.read = 0,
            Err(why) => self.tell(why),
        }
        self.field = self.field.min(self.fields().len().saturating_sub(1));
    }

    /// Reads the next element.
    pub fn next(&mut self) {
        let count = self.turn.order(PLAYED).len();
        self.read = if self.read >= count { usize::from(count > 0) } else { self.read + 1 };
        if self.read == count {
            self.is_playing = false;
        }
    }

    /// Returns the element read last: its position and how that is computed.
    fn visit(&self) -> Option<(i64, String)> {
        let at = self.read.checked_sub(1)?;
        let visit = self.turn.order(self.read).into_iter().nth(at)?;
        Some((visit.place, format!("{}. {}", self.read, visit.text)))
    }

    /// Draws the form for a terminal. What does not fit is left out from below, except the last line.
    pub fn lines(&self, columns: usize, rows: usize) -> Vec<Line> {
        let (layout, unit) = (self.turn.layout(), self.turn.unit());
        let value = |field: Field, name: &str, value: String| {
            let is_chosen = self.chosen() == field;
            let (ink, text) = match is_chosen {
                true => (Ink::Shared, format!("[{value}]")),
                false => (Ink::Plain, format!(" {value} ")),
            };
            vec![span(Ink::Label, format!("{name} ")), span(ink, format!("{text:<12}"))]
        };
        let what = if self.turn.is_array() { "array" } else { "tensor" };
        let mut lines = vec![vec![span(
            Ink::Title,
            format!("turn {}: {what} on {} bytes, {unit}s counted from 0", self.name, self.turn.storage().nbytes()),
        )]];
        for (d, (size, stride)) in layout.sizes.iter().zip(&layout.strides).enumerate() {
            let mut line = value(Field::Size(d), &format!("dim {d}  size"), size.to_string());
            line.extend(value(Field::Stride(d), "stride", stride.to_string()));
            lines.push(line);
        }
        let mut line = value(Field::Offset, "offset", layout.offset.to_string());
        line.extend(value(Field::DType, "dtype", self.turn.dtype().name().to_owned()));
        lines.push(line);
        let byte = self.turn.byte(self.byte).map_or("no bytes".to_owned(), |byte| format!("{byte:#04x} = {byte:08b}"));
        let mut line = value(Field::Byte, "byte", self.byte.to_string());
        line.push(span(
            Ink::Plain,
            match &self.asked {
                Asked::Nothing => byte,
                Asked::Byte(digits) => format!("{byte} := 0x{digits}_"),
                Asked::Bit => format!("{byte}, flip bit _"),
            },
        ));
        lines.push(line);
        let told = terminal::wrapped(&self.told, columns.saturating_sub(1).max(1));
        lines.extend(told.into_iter().map(|line| vec![span(Ink::Fault, line)]));
        let codes = self.codes();
        let code = codes.first().map_or("none: no variable is on this storage", String::as_str);
        lines.push(vec![span(Ink::Label, "code  "), span(Ink::Good, code)]);
        let visit = self.visit();
        let read = match &visit {
            Some((_, text)) => text.clone(),
            None => "space plays the reading order".to_owned(),
        };
        lines.push(vec![span(Ink::Label, "read  "), span(Ink::Plain, read)]);
        lines.push(vec![span(Ink::Label, "lines "), span(Ink::Plain, self.turn.cache_lines())]);
        for (i, text) in terminal::wrapped(&self.turn.views(), columns.saturating_sub(6)).into_iter().enumerate() {
            lines.push(vec![span(Ink::Label, if i == 0 { "view  " } else { "      " }), span(Ink::Plain, text)]);
        }
        lines.extend(self.strip(columns, visit.map(|(place, _)| place)));
        let keys = if columns < 80 || rows < 20 { &SHORT_KEYS } else { &KEYS[..] };
        lines.truncate(rows.saturating_sub(keys.len() + 1));
        lines.extend(keys.iter().map(|keys| vec![span(Ink::Label, *keys)]));
        lines.into_iter().map(|line| cut(line, columns.saturating_sub(1))).collect()
    }

    /// Draws the first row of the storage, with the element read last in brackets.
    fn strip(&self, columns: usize, place: Option<i64>) -> Vec<Line> {
        let scene = self.turn.storage_row(columns, Terms { bytes: true, cells: CELLS }, place);
        terminal::draw(&scene, columns).into_iter().skip(1).collect()
    }

    /// Says in words what the layout is and what can be changed, for a reader without a terminal.
    pub fn words(&self, columns: usize) -> String {
        let mut text = String::new();
        let layout = self.turn.layout();
        let (unit, step) = (self.turn.unit(), self.turn.step());
        let mut say = |line: String| {
            for line in terminal::wrapped(&line, columns) {
                text.push_str(&format!("{line}\n"));
            }
        };
        say(format!("{}: {}", self.name, self.turn.in_words()));
        say(format!("cache lines: {}", self.turn.cache_lines()));
        say(self.turn.views());
        let changes = (0..layout.ndim()).flat_map(|d| {
            let (size, stride) = (layout.sizes.get(d).copied(), layout.strides.get(d).copied());
            [
                (format!("size({d})"), Change::Size(d, size.unwrap_or_default() + 1)),
                (format!("stride({d})"), Change::Stride(d, stride.unwrap_or_default() + step)),
            ]
        });
        for (name, change) in changes.chain([("offset".to_owned(), Change::Offset(layout.offset + step))]) {
            let mut turn = self.turn.clone();
            match turn.apply(change) {
                Ok(()) => say(format!("{name} can grow")),
                Err(why) => say(format!("{name} cannot grow: {why}")),
            }
        }
        for visit in self.turn.order(4) {
            say(format!("reading order, {}", visit.text));
        }
        say(format!("A terminal changes these by keys; {unit}s count from 0."));
        text
    }
}

/// Cuts a line to a number of columns.
fn cut(line: Line, columns: usize) -> Line {
    let mut left = columns;
    let mut shorter = Line::new();
    for mut piece in line {
        piece.text = piece.text.chars().take(left).collect();
        left -= piece.text.chars().count();
        shorter.push(piece);
    }
    shorter
}

//! The settings file, `$XDG_CONFIG_HOME/tensorsh/config.toml`, `~/.config/tensorsh/config.toml`, or on Windows
//! `%APPDATA%\tensorsh\config.toml`: its settings, and errors in it. docs/shell.md lists the settings.

use std::io::ErrorKind;
use std::path::PathBuf;

use toml::{Table, Value};

use super::folders;
use super::screen::{ColorChoice, Theme};
use session::transcript::describe;
use session::{BUDGET, Language};

/// The user's settings; the default applies without a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Config {
    /// `color`
    pub color: Option<ColorChoice>,
    /// `keys = "vi"`
    pub vi: bool,
    /// `language`: the initial language of the prompt.
    pub language: Language,
    /// `history`: the number of entries to keep.
    pub history: usize,
    /// `memory`: the maximum number of bytes of a list, text, tuple or buffer.
    pub memory: usize,
    /// `startup`: a script that runs before the first prompt.
    pub startup: Option<PathBuf>,
    /// `pager`: whether long values are shown a screen at a time.
    pub pager: bool,
    /// `hints`: whether to show the rest of an earlier entry and call signatures after the cursor.
    pub hints: bool,
    /// `translate`: whether to show the Rhai form of a line read as Python.
    pub translate: bool,
    /// `[print]`: keywords of `torch.set_printoptions`, with their values as source.
    pub print: Vec<(String, String)>,
    /// `[colors]`
    pub theme: Theme,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            color: None,
            vi: false,
            language: Language::Rhai,
            history: 10_000,
            memory: BUDGET,
            startup: None,
            pager: true,
            hints: true,
            translate: true,
            print: Vec::new(),
            theme: Theme::default(),
        }
    }
}

const SETTINGS: &[&str] =
    &["color", "keys", "language", "history", "memory", "startup", "pager", "hints", "translate", "print", "colors"];
const PRINT: &[&str] = &["precision", "threshold", "edgeitems", "linewidth", "profile", "sci_mode"];

impl Config {
    /// Returns the settings for printing tensors as a line of Python. `None` if there are none.
    pub(crate) fn print_options(&self) -> Option<String> {
        let options: Vec<_> = self.print.iter().map(|(key, value)| format!("{key}={value}")).collect();
        (!options.is_empty()).then(|| format!("torch.set_printoptions({})", options.join(", ")))
    }

    /// Reads the settings file, if there is one. Each fault is reported in a sentence; the rest of the file applies.
    pub(crate) fn read() -> (Config, Vec<String>) {
        let Some(folder) = folders::of_user("XDG_CONFIG_HOME", "APPDATA", ".config") else {
            return Default::default();
        };
        let path = folder.join("config.toml");
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                let (config, faults) = Config::parse(&text);
                (config, faults.into_iter().map(|fault| format!("{}: {fault}", path.display())).collect())
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Default::default(),
            Err(error) => (Config::default(), vec![describe(&path, &error)]),
        }
    }

    /// Reads settings from text.
    pub(crate) fn parse(text: &str) -> (Config, Vec<String>) {
        let mut config = Config::default();
        let table = match text.parse::<Table>() {
            Ok(table) => table,
            Err(error) => return (config, vec![error.to_string().trim_end().to_owned()]),
        };
        let faults = table.iter().filter_map(|(key, value)| config.set(key, value).err()).flatten().collect();
        (config, faults)
    }

    fn set(&mut self, key: &str, value: &Value) -> Result<(), Vec<String>> {
        let wrong = |wanted: &str| vec![format!("{key} must be {wanted}, not {value}")];
        match key {
            "color" => {
                self.color = Some(match value.as_str() {
                    Some("auto") => ColorChoice::Auto,
                    Some("always") => ColorChoice::Always,
                    Some("never") => ColorChoice::Never,
                    _ => return Err(wrong("\"auto\", \"always\" or \"never\"")),
                });
            }
            "keys" => {
                self.vi = match value.as_str() {
                    Some("emacs") => false,
                    Some("vi") => true,
                    _ => return Err(wrong("\"emacs\" or \"vi\"")),
                };
            }
            "language" => {
                self.language = match value.as_str() {
                    Some("rhai") => Language::Rhai,
                    Some("python") => Language::Python,
                    _ => return Err(wrong("\"rhai\" or \"python\"")),
                };
            }
            "history" => {
                let size = value.as_integer().and_then(|size| usize::try_from(size).ok());
                self.history = size.filter(|size| *size <= 1_000_000).ok_or_else(|| wrong("a number up to 1000000"))?;
            }
            "memory" => {
                let size = value.as_str().and_then(byte_count);
                self.memory = size.ok_or_else(|| wrong("a string such as \"512 MiB\", of 1 MiB or more"))?;
            }
            "startup" => {
                let path = value.as_str().ok_or_else(|| wrong("the path of a script"))?;
                self.startup = Some(match (path.strip_prefix("~/"), std::env::home_dir()) {
                    (Some(rest), Some(home)) => home.join(rest),
                    _ => PathBuf::from(path),
                });
            }
            "pager" | "hints" | "translate" => {
                let setting = match key {
                    "pager" => &mut self.pager,
                    "hints" => &mut self.hints,
                    _ => &mut self.translate,
                };
                *setting = value.as_bool().ok_or_else(|| wrong("true or false"))?;
            }
            "print" => return self.set_print(value.as_table().ok_or_else(|| wrong("a table"))?),
            "colors" => return self.set_colors(value.as_table().ok_or_else(|| wrong("a table"))?),
            _ => return Err(vec![unknown("setting", key, SETTINGS)]),
        }
        Ok(())
    }

    fn set_print(&mut self, table: &Table) -> Result<(), Vec<String>> {
        let mut faults = Vec::new();
        for (key, value) in table {
            let source = match value {
                Value::Boolean(true) => "True".to_owned(),
                Value::Boolean(false) => "False".to_owned(),
                other => other.to_string(),
            };
            match value {
                _ if !PRINT.contains(&key.as_str()) => faults.push(unknown("print option", key, PRINT)),
                Value::Integer(_) | Value::Boolean(_) | Value::String(_) => self.print.push((key.clone(), source)),
                _ => faults.push(format!("print.{key} cannot be {value}")),
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    fn set_colors(&mut self, table: &Table) -> Result<(), Vec<String>> {
        let mut faults = Vec::new();
        for (key, value) in table {
            match value.as_str() {
                _ if !Theme::NAMES.contains(&key.as_str()) => faults.push(unknown("colour", key, Theme::NAMES)),
                Some(color) if self.theme.set(key, color) => {}
                _ => faults.push(format!("colors.{key} must be one of {}, not {value}", Theme::COLORS.join(", "))),
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }
}

/// Parses a number of bytes such as `512 MiB`, `1.5GB` or `1000000`; at least one mebibyte.
fn byte_count(text: &str) -> Option<usize> {
    const UNITS: &[(&str, f64)] = &[
        ("", 1.0),
        ("B", 1.0),
        ("KB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
        ("TiB", 1_099_511_627_776.0),
    ];
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (_, size) = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit.trim()))?;
    let nbytes = number.parse::<f64>().ok()? * size;
    (1_048_576.0..9e15).contains(&nbytes).then_some(nbytes as usize)
}

fn unknown(what: &str, key: &str, known: &[&str]) -> String {
    let scored = known.iter().map(|known| (strsim::damerau_levenshtein(known, key), known));
    let near = scored.min().filter(|(distance, _)| *distance <= 2).map(|(_, known)| known);
    match near {
        Some(near) => format!("there is no {what} '{key}'; did you mean '{near}'?"),
        None => format!("there is no {what} '{key}'; choose from {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings() {
        let text = "color = \"never\"\nkeys = \"vi\"\nlanguage = \"python\"\nhistory = 5\npager = false\n[print]\nprecision = 2\n[colors]\nnumber = \"red\"\n";
        let (config, faults) = Config::parse(text);
        assert_eq!(faults, Vec::<String>::new());
        assert!(config.vi && !config.pager && config.hints && config.history == 5);
        assert_eq!((config.color, config.language), (Some(ColorChoice::Never), Language::Python));
        assert_eq!(config.print, [("precision".to_owned(), "2".to_owned())]);
        assert_ne!(config.theme, Theme::default());
    }

    #[test]
    fn sizes() {
        for (text, nbytes) in
            [("1 GiB", 1 << 30), ("1.5GiB", 3 << 29), (" 2 mb ", 2_000_000), ("3000000", 3_000_000), ("2 TiB", 2 << 40)]
        {
            assert_eq!(Config::parse(&format!("memory = \"{text}\"")).0.memory, nbytes, "{text}");
        }
        assert_eq!(Config::default().memory, BUDGET);
    }

    #[test]
    fn faults_are_told_and_the_rest_holds() {
        let rows = [
            ("key = 1", "there is no setting 'key'; did you mean 'keys'?"),
            ("history = -1", "history must be a number up to 1000000, not -1"),
            ("memory = 3", "memory must be a string such as \"512 MiB\", of 1 MiB or more, not 3"),
            ("memory = \"10 parsecs\"", "memory must be"),
            ("memory = \"12 KB\"", "memory must be"),
            ("pager = 3", "pager must be true or false, not 3"),
            ("[print]\nprecison = 3", "there is no print option 'precison'; did you mean 'precision'?"),
            ("[colors]\nnumber = \"beige\"", "colors.number must be one of"),
            ("color = ", "TOML parse error"),
        ];
        for (text, wanted) in rows {
            let (_, faults) = Config::parse(text);
            assert!(faults.len() == 1 && faults[0].contains(wanted), "{text}: {faults:?}");
        }
        assert!(Config::parse("nothing = 1\nkeys = \"vi\"").0.vi);
    }
}

//! The command line: selects among the prompt, a script, `-e`, `test`, `replay` and the other commands. The library
//! implements them.

use std::ffi::OsString;
use std::io::{IsTerminal, stdin};
use std::path::PathBuf;
use std::process::exit;
use std::time::Duration;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use tensorsh::session::transcript::{Document, Form, Terms, read_text, replay, spawn_with_big_stack};
use tensorsh::shell::{self, ColorChoice, Language, Learning, PromptOptions, Screen, Testing, complain, show};
use tensorsh::tensor::system::{Machine, System};

const USAGE: &str = "\
tensorsh [OPTIONS]                        a prompt; or a script from standard input
       tensorsh [OPTIONS] FILE [ARGS]...         a script, in Python if it ends in .py
       tensorsh [OPTIONS] -e CODE [ARGS]...      a line of code
       tensorsh [OPTIONS] test [--update | --review] [--filter TEXT] PATH...
       tensorsh [OPTIONS] replay FILE...
       tensorsh learn [--rhai] [--list] [LESSON]
       tensorsh [OPTIONS] inspect [--json] FILE...
       tensorsh completions SHELL
       tensorsh man";

const AFTER: &str = "\
Exit status: 0 on success; 1 if a script or a transcript failed, or a file cannot be read; 2 if the command line \
is wrong; 130 if Ctrl-C ended a script; the argument of exit() if a script calls it.

Text from standard input that starts with `>>> ` or `rhai> ` is run as a session copied from a documentation page.";

/// A shell for tensors and the bytes beneath them
#[derive(Clone, Debug, Parser)]
#[command(name = "tensorsh", version, override_usage = USAGE, after_help = AFTER, disable_help_subcommand = true)]
struct Cli {
    /// Evaluate CODE and show its value, as the prompt would; may be given several times
    #[arg(short = 'e', long = "eval", value_name = "CODE", allow_hyphen_values = true)]
    code: Vec<String>,

    /// Print less: no greeting at the prompt, and only the failures of a test
    #[arg(short, long, global = true)]
    quiet: bool,

    /// When to use colours; `auto` means on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = Color::Auto)]
    color: Color,

    /// Open a prompt after the script, with its variables
    #[arg(short, long)]
    interactive: bool,

    /// Read the prompt, -e and standard input as Python
    #[arg(long, conflicts_with = "rhai")]
    python: bool,

    /// Read them as Rhai, whatever the settings file says
    #[arg(long)]
    rhai: bool,

    /// Do not read the settings file
    #[arg(long)]
    no_config: bool,

    #[command(subcommand)]
    command: Option<Command>,

    /// A script, in Python if its name ends in `.py` and in Rhai otherwise (`-` is standard input), and its arguments, which it reads from ARGS. With -e, all of them go to ARGS
    #[arg(value_name = "FILE [ARGS]", trailing_var_arg = true)]
    script: Vec<OsString>,
}

#[derive(Clone, Debug, Subcommand)]
enum Command {
    /// Run recorded sessions and compare what they print
    ///
    /// PATHs are files or folders. In a `.md` file every fenced block marked `pycon` or `rhai-session` belongs to a
    /// session, and a heading starts a fresh one; a `.txt` file is one session. Python stands behind `>>> ` and
    /// `... `, Rhai behind `rhai> ` and `    > `; what follows is the output. An input may end in a comment
    /// `# doctest: +NAME` (in Rhai `// doctest: +NAME`): SKIP, ELLIPSIS, NORMALIZE_WHITESPACE, or NUMBER, under which
    /// numbers with a point agree if they agree to the digits that are recorded.
    Test(Test),
    /// Run recorded sessions and print them with their current outputs
    Replay(Replay),
    /// Learn storages, strides and views in lessons with exercises
    ///
    /// Without LESSON, starts the first lesson that has unfinished exercises.
    Learn(Learn),
    /// List what files of tensors contain, without reading the data
    ///
    /// Reads checkpoints of PyTorch, safetensors, npy, npz and GGUF, folders of torch.distributed, and models in several
    /// files. Lists the name, dtype, size, stride and offset of every tensor, which tensors share a storage, and stored bytes
    /// that no tensor uses. Nothing in a file is executed.
    Inspect(Inspect),
    /// Compare two files or folders of tensors, whatever their formats
    ///
    /// Reports tensors that were added, removed, renamed (the same bytes under another name), or changed in shape or dtype. For
    /// the others, reports how many elements differ, and the largest, average and relative difference. Also compares which
    /// tensors share a storage, values and metadata. Exit status: 0 if nothing differs, 1 if something does, 2 if they cannot be
    /// compared.
    Diff(Diff),
    /// Convert a file of tensors to the format that the name of the other file ends in
    ///
    /// TO ends in .pt, .pth, .bin, .ckpt, .safetensors, .npy or .npz. Checkpoints keep values, containers, and which tensors
    /// share a storage. Another format refuses what it cannot represent, by name. Tensors are streamed, so files may be larger
    /// than memory. TO is replaced only when it is complete.
    Convert(Convert),
    /// Print completions of this command line for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page
    Man,
}

#[derive(Args, Clone, Debug)]
struct Test {
    /// Write outputs that differ into the files
    #[arg(long)]
    update: bool,

    /// Show every output that differs, and ask whether to write it into the file
    #[arg(long, conflicts_with_all = ["update", "json", "watch"])]
    review: bool,

    /// Run only the sessions whose name, or whose file's, contains TEXT
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,

    /// Stop after the first file in which something fails
    #[arg(long)]
    fail_fast: bool,

    /// Run again whenever a file changes, until Ctrl-C
    #[arg(long)]
    watch: bool,

    /// Report as JSON
    #[arg(long)]
    json: bool,

    /// Also write a report in JUnit's XML to FILE
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Interrupt an example that runs longer; it fails
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,

    /// Files or folders of recorded sessions; FILE:LINE runs the session at that line, `-` reads standard input
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
}

#[derive(Args, Clone, Debug)]
struct Replay {
    /// Transcripts
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

#[derive(Args, Clone, Debug)]
struct Learn {
    /// List the lessons and your progress
    #[arg(long)]
    list: bool,

    /// Reset your progress
    #[arg(long)]
    reset: bool,

    /// Show the lessons in Python, like PyTorch's pages; answers may be in either language
    #[arg(long, conflicts_with = "rhai")]
    python: bool,

    /// Show the lessons in Rhai
    #[arg(long)]
    rhai: bool,

    /// The number or the name of a lesson
    #[arg(value_name = "LESSON")]
    lesson: Option<String>,
}

#[derive(Args, Clone, Debug)]
struct Inspect {
    /// Print JSON
    #[arg(long)]
    json: bool,

    /// The files; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<OsString>,
}

#[derive(Args, Clone, Debug)]
struct Diff {
    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Treat elements as equal if they differ by at most NUMBER, or by at most that fraction of the first
    #[arg(long, value_name = "NUMBER", default_value_t = 0.0, value_parser = tolerance)]
    tolerance: f64,

    /// The files; one of them may be `-`, standard input
    #[arg(value_names = ["FILE", "FILE"], required = true)]
    files: Vec<OsString>,
}

#[derive(Args, Clone, Debug)]
struct Convert {
    /// Convert all floats (and all blocks of a GGUF file) to this dtype: bfloat16, float16, float8_e4m3fn, …
    #[arg(long, value_name = "DTYPE")]
    dtype: Option<String>,

    /// The file, in any format that `inspect` reads; `-` is standard input
    #[arg(value_name = "FROM")]
    from: OsString,

    /// The file to write
    #[arg(value_name = "TO")]
    to: OsString,
}

fn tolerance(text: &str) -> Result<f64, String> {
    let number = text.parse().map_err(|_| "not a number".to_owned())?;
    if number >= 0.0 { Ok(number) } else { Err("a tolerance must not be negative".to_owned()) }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

fn main() {
    let cli = Cli::parse();
    System::keep_freed_memory();
    tensorsh::provide_texts();
    // The thread ends the program itself as soon as its work is done.
    let fate = spawn_with_big_stack("tensorsh", move || exit(run(cli))).map(|thread| thread.join());
    match fate {
        Ok(Ok(never)) => never,
        // The panic has been reported already.
        Ok(Err(_)) => exit(101),
        Err(error) => {
            complain(&format!("tensorsh: cannot start a thread: {error}\n"));
            exit(1);
        }
    }
}

fn run(cli: Cli) -> i32 {
    let screen = Screen::new(match cli.color {
        Color::Auto => ColorChoice::Auto,
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
    });
    match &cli.command {
        Some(Command::Test(test)) => shell::test(screen, &testing(test, cli.quiet)),
        Some(Command::Replay(replay)) => run_replay(replay),
        Some(Command::Learn(Learn { list, reset, python, rhai, lesson })) => {
            let language = asked(*python, *rhai).or_else(|| language(&cli)).unwrap_or(Language::Python);
            shell::learn(screen, &Learning { language, lesson: lesson.clone(), list: *list, reset: *reset })
        }
        Some(Command::Inspect(inspect)) => shell::inspect(&as_text(&inspect.files), inspect.json),
        Some(Command::Diff(Diff { json, tolerance, files })) => match as_text(files).as_slice() {
            [a, b] => shell::diff([a, b], *tolerance, *json),
            _ => 2,
        },
        Some(Command::Convert(Convert { dtype, from, to })) => {
            shell::convert(&from.to_string_lossy(), &to.to_string_lossy(), dtype.as_deref())
        }
        Some(Command::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "tensorsh", &mut script);
            show(&String::from_utf8_lossy(&script));
            0
        }
        Some(Command::Man) => {
            let mut page = Vec::new();
            match clap_mangen::Man::new(Cli::command()).render(&mut page) {
                Ok(()) => show(&String::from_utf8_lossy(&page)),
                Err(error) => complain(&format!("tensorsh: {error}\n")),
            }
            0
        }
        None if !cli.code.is_empty() => shell::run_code(screen, language(&cli), &cli.code, as_text(&cli.script)),
        None => match cli.script.split_first() {
            Some((file, _)) if cli.interactive => shell::prompt(screen, opening(&cli, Some(file))),
            Some((file, args)) if file != "-" => shell::run_file(screen, file.as_ref(), as_text(args)),
            None if stdin().is_terminal() || cli.interactive => shell::prompt(screen, opening(&cli, None)),
            script => shell::run_standard_input(screen, language(&cli), as_text(script.map_or(&[], |(_, args)| args))),
        },
    }
}

fn testing(test: &Test, quiet: bool) -> Testing {
    Testing {
        paths: test.paths.clone(),
        terms: Terms { update: test.update, limit: Duration::from_secs(test.timeout), filter: test.filter.clone() },
        quiet,
        fail_fast: test.fail_fast,
        review: test.review,
        watch: test.watch,
        json: test.json,
        junit: test.junit.clone(),
    }
}

fn opening(cli: &Cli, script: Option<&OsString>) -> PromptOptions {
    let args = cli.script.get(1..).unwrap_or_default();
    PromptOptions {
        quiet: cli.quiet,
        args: as_text(args),
        no_config: cli.no_config,
        language: language(cli),
        script: script.map(PathBuf::from),
    }
}

/// Returns the requested language.
fn language(cli: &Cli) -> Option<Language> {
    asked(cli.python, cli.rhai)
}

fn asked(python: bool, rhai: bool) -> Option<Language> {
    match (python, rhai) {
        (true, _) => Some(Language::Python),
        (_, true) => Some(Language::Rhai),
        _ => None,
    }
}

fn as_text(args: &[OsString]) -> Vec<String> {
    args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect()
}

fn run_replay(command: &Replay) -> i32 {
    let mut status = 0;
    for file in &command.files {
        match read_text(file) {
            Ok(text) => show(&replay(&Document::parse(&text, Form::of(file)))),
            Err(error) => {
                complain(&format!("tensorsh: {error}\n"));
                status = 1;
            }
        }
    }
    status
}

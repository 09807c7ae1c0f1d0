//! The command line: selects among the prompt, a script, `-e`, `test`, `replay` and the other commands. The library
//! implements them.

use std::ffi::OsString;
use std::io::{IsTerminal, stdin};
use std::path::{Path, PathBuf};
use std::process::exit;
use std::sync::Arc;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use tensorsh::session::transcript::{Baseline, Options, Reading, Scope, Terms, read_text, spawn_with_big_stack};
use tensorsh::shell::{
    self, ColorChoice, Conversion, DiffForm, Language, Learning, Marking, PromptOptions, Publication, Quizzing,
    ReportForm, Reporting, Screen, Sort, Testing, complain, show,
};
use tensorsh::tensor::system::{Machine, System};

const USAGE: &str = "\
tensorsh [OPTIONS]                        a prompt; or a script from standard input
       tensorsh [OPTIONS] FILE [ARGS]...         a script, in Python if it ends in .py
       tensorsh [OPTIONS] --keep-going FILE.py   a script in Python, to its end whatever fails
       tensorsh [OPTIONS] -m MODULE [ARGS]...    a module of Python
       tensorsh [OPTIONS] -e CODE [ARGS]...      a line of code
       tensorsh [OPTIONS] test [--update | --review] [--filter TEXT] PATH...
       tensorsh [OPTIONS] replay FILE...
       tensorsh learn [--rhai] [--list] [--report FILE] [LESSON | FILE | FOLDER]
       tensorsh learn --mark FILE [LESSON | FILE | FOLDER]
       tensorsh publish [--site URL | FOLDER] [LESSON | FILE | FOLDER] -o FOLDER
       tensorsh quiz [--level LEVEL] [--seed NUMBER] [--count NUMBER] [--answers] [TOPIC]...
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

    /// Run a module of Python, or the `__main__` of a package, as a script with the arguments that follow
    #[arg(short, value_name = "MODULE [ARGS]", num_args = 1.., allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["code", "interactive", "keep_going", "rhai"])]
    module: Vec<String>,

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

    /// Run a script in Python statement by statement, and go on after a statement that fails
    ///
    /// Each failure is reported on standard error, and the last line there counts them. Lines that only IPython reads
    /// (magics, `!` commands, `name?`, calls of get_ipython()) are named and do not run. Standard input is read as Python.
    #[arg(long, conflicts_with_all = ["rhai", "code", "interactive"])]
    keep_going: bool,

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
    /// PATHs are files or folders: Markdown, reStructuredText, docstrings, notebooks, HTML, and text. Python stands
    /// behind `>>> ` and `... ` or `In [1]: `, Rhai behind `rhai> ` and `    > `; what follows is the output. Python in a
    /// block without prompts is run, and compared where a comment says what it prints. Blocks that are not read are
    /// counted at the end.
    ///
    /// An input may end in a comment `# doctest: +NAME` (in Rhai `// doctest: +NAME`): SKIP, ELLIPSIS,
    /// NORMALIZE_WHITESPACE, IGNORE_OUTPUT, IGNORE_EXCEPTION_DETAIL, FLOAT_CMP, or NUMBER, under which numbers with a
    /// point agree if they agree to the digits that are recorded.
    ///
    /// Exit status: 0 if nothing disagrees; 1 if something does; 3 if nothing does, but something is missing in
    /// tensorsh. Random values without a seed, addresses, times and accelerators cannot agree, and are counted.
    Test(Test),
    /// Run recorded sessions and print them with their current outputs
    Replay(Replay),
    /// Learn storages, strides and views in lessons with exercises
    ///
    /// Without LESSON, starts the first lesson that has unfinished exercises. A lesson of your own is a Markdown file like
    /// those of docs/learn; a folder is lessons in the order of their file names. Their code runs like any script: open
    /// only lessons that you would run. LESSON:2 begins at the second exercise.
    ///
    /// Exit status of --mark: 0 if all answers are right; 1 if some are not; 2 if the report cannot be judged.
    Learn(Learn),
    /// Write lessons as pages that any server of files can serve
    ///
    /// Each lesson becomes one page of HTML, which needs no other file: the text, the sessions with what they print and draw
    /// now, and exercises with hints and solutions folded. Several lessons get a list, index.html. Without LESSON, writes
    /// those of docs/learn. A page has no script, and nothing in a lesson becomes markup.
    Publish(Publish),
    /// Answer questions on strides, views, sharing, dtypes, broadcasting and indexing
    ///
    /// Questions are made at random from operations, and the answers are computed. At a terminal they are asked and judged,
    /// and a picture explains a wrong answer; without --count they go on until :quit. Otherwise they are printed in
    /// Markdown, 10 unless --count says how many. A seed makes the same questions again.
    Quiz(Quiz),
    /// List what files of tensors contain, without reading the data
    ///
    /// Reads checkpoints of PyTorch, pickles, safetensors, npy, npz and GGUF, folders of torch.distributed, and models in
    /// several files. Lists the name, dtype, size, stride and offset of every tensor, which tensors share a storage, and stored bytes
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
    /// share a storage; with --only, --tensors or --rename they become one dictionary of names. Another format refuses what it
    /// cannot represent, by name. Tensors are streamed, so files may be larger than memory. TO is replaced only when it is
    /// complete.
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

    /// Fail if a block is not read, or if anything cannot agree or is missing here
    #[arg(long)]
    strict: bool,

    /// Accept paths without examples
    #[arg(long, conflicts_with = "strict")]
    allow_empty: bool,

    /// Print the changes of --update as a patch, and write nothing
    #[arg(long, conflicts_with_all = ["update", "review", "json", "watch"])]
    diff: bool,

    /// Share variables in a whole page, below a heading, or in a block, unless the page says how far
    #[arg(long, value_name = "SCOPE", value_enum)]
    session: Option<SessionScope>,

    /// Run this file of Python first in every session
    #[arg(long, value_name = "FILE")]
    setup: Option<PathBuf>,

    /// Compare all outputs with an option, as in `# doctest: +NAME`; may be given several times
    #[arg(short, long, value_name = "NAME", value_parser = doctest_option)]
    option: Vec<String>,

    /// Let numbers with a point differ by NUMBER, or by this fraction
    #[arg(long, value_name = "NUMBER", value_parser = tolerance)]
    tolerance: Option<f64>,

    /// Accept the failures that FILE lists
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,

    /// Write today's failures to FILE, for --baseline
    #[arg(long, value_name = "FILE", conflicts_with_all = ["baseline", "watch"])]
    write_baseline: Option<PathBuf>,

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

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SessionScope {
    Page,
    Heading,
    Block,
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

    /// Reset your progress, in LESSON or in all lessons
    #[arg(long)]
    reset: bool,

    /// Keep answers, attempts and hints in FILE, a line of JSON for each; a report that is there grows
    #[arg(long, value_name = "FILE", conflicts_with_all = ["list", "mark"])]
    report: Option<PathBuf>,

    /// Judge the answers of a report again, by LESSON if it is one of your own, and print a table
    ///
    /// Answers run with limits on time, memory and files, and what they write is thrown away.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["list", "reset", "python", "rhai"])]
    mark: Option<PathBuf>,

    /// Stop answers of an exercise that run longer
    #[arg(long, value_name = "SECONDS", default_value_t = 20, requires = "mark", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,

    /// Judge only one exercise of the report, for --mark itself
    #[arg(long, value_name = "INDEX", requires = "mark", hide = true)]
    judge: Option<usize>,

    /// Show the lessons in Python, like PyTorch's pages; answers may be in either language
    #[arg(long, conflicts_with = "rhai")]
    python: bool,

    /// Show the lessons in Rhai
    #[arg(long)]
    rhai: bool,

    /// The number or the name of a lesson, a file, or a folder of files; LESSON:N is its exercise N
    #[arg(value_name = "LESSON")]
    lesson: Option<String>,
}

#[derive(Args, Clone, Debug)]
struct Publish {
    /// The folder to write to, which is made if it is not there
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,

    /// The page in the browser, by its address or its folder (`scripts/web --build` makes it); sessions and exercises link to it
    #[arg(long, value_name = "URL | FOLDER")]
    site: Option<String>,

    /// Write the lessons in Rhai
    #[arg(long)]
    rhai: bool,

    /// The number or the name of a lesson, a file, or a folder of files
    #[arg(value_name = "LESSON")]
    lesson: Option<String>,
}

#[derive(Args, Clone, Debug)]
struct Quiz {
    /// Choose the questions by NUMBER
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,

    /// Ask NUMBER questions
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=500))]
    count: Option<u16>,

    /// Ask questions of one level, from 1 to 3; without it, questions become harder
    #[arg(long, value_name = "LEVEL", value_parser = clap::value_parser!(u8).range(1..=3))]
    level: Option<u8>,

    /// Print the questions with their answers
    #[arg(long)]
    answers: bool,

    /// Show the questions in Python; answers may be in either language
    #[arg(long, conflicts_with = "rhai")]
    python: bool,

    /// Show the questions in Rhai
    #[arg(long)]
    rhai: bool,

    /// The topics; without any, all are mixed
    #[arg(value_name = "TOPIC", value_parser = PossibleValuesParser::new(shell::quiz_topics()))]
    topics: Vec<String>,
}

#[derive(Args, Clone, Debug)]
struct Inspect {
    /// Print JSON
    #[arg(long, conflicts_with_all = ["summary", "tree"])]
    json: bool,

    /// List only names like PATTERN, in which `*` stands for any characters and `?` for one, and all below them
    #[arg(long, value_name = "PATTERN")]
    filter: Vec<String>,

    /// Sort the tensors
    #[arg(long, value_name = "BY", value_enum)]
    sort: Option<SortBy>,

    /// Print the parts of names as a tree
    #[arg(long, conflicts_with = "summary")]
    tree: bool,

    /// Print numbers by prefix and dtype, and the largest tensors
    #[arg(long)]
    summary: bool,

    /// The files; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SortBy {
    /// Numbers in names by their value
    Name,
    /// Largest first
    Size,
    Dtype,
}

#[derive(Args, Clone, Debug)]
struct Diff {
    /// Print JSON
    #[arg(long, conflicts_with = "stat")]
    json: bool,

    /// Print a table of the changed tensors, with norms
    #[arg(long)]
    stat: bool,

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
    #[arg(long = "as", value_name = "DTYPE", visible_alias = "dtype")]
    dtype: Option<String>,

    /// Take only names like PATTERN, as `inspect --filter` lists them; may be given several times
    #[arg(long, value_name = "PATTERN")]
    only: Vec<String>,

    /// Leave out what is not a tensor, and say what it was: numbers, texts, objects, programs
    #[arg(long)]
    tensors: bool,

    /// Let names that begin with OLD begin with NEW; OLD is a whole part of a name, or ends in a dot
    #[arg(long, value_names = ["OLD", "NEW"], num_args = 2, action = clap::ArgAction::Append)]
    rename: Vec<String>,

    /// Write tensors that share memory each on its own
    #[arg(long)]
    clone: bool,

    /// Write elements that npz and npy lack (bfloat16, float8, …) as unsigned integers of the same bits
    #[arg(long)]
    bits: bool,

    /// Let a checkpoint keep the devices that its tensors were saved from
    #[arg(long)]
    keep_device: bool,

    /// Write several safetensors files of at most SIZE each, with an index: 2GB, 500MB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    shard_size: Option<u64>,

    /// The file, in any format that `inspect` reads; `-` is standard input
    #[arg(value_name = "FROM")]
    from: OsString,

    /// The file to write
    #[arg(value_name = "TO")]
    to: OsString,
}

/// Reads a number of bytes, with a unit or without.
fn size(text: &str) -> Result<u64, String> {
    const UNITS: &[(&str, u64)] = &[
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("kB", 1_000),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("B", 1),
        ("", 1),
    ];
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let unit = UNITS.iter().find(|(name, _)| *name == unit.trim()).map(|(_, unit)| *unit as f64);
    let nbytes = number.parse::<f64>().ok().zip(unit).map(|(number, unit)| number * unit);
    match nbytes {
        Some(nbytes) if nbytes >= 1.0 => Ok(nbytes as u64),
        _ => Err("not a size, such as 2GB or 500MB".to_owned()),
    }
}

fn doctest_option(text: &str) -> Result<String, String> {
    let known = Options::default().set(text).map(|()| text.to_owned());
    known.map_err(|_| {
        "unknown; known are ELLIPSIS, NORMALIZE_WHITESPACE, NUMBER, FLOAT_CMP, IGNORE_OUTPUT, \
                       IGNORE_EXCEPTION_DETAIL, SKIP"
            .to_owned()
    })
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
        Some(Command::Test(test)) => match testing(test, cli.quiet) {
            Ok(testing) => shell::test(screen, &testing),
            Err(error) => {
                complain(&format!("tensorsh: {error}\n"));
                1
            }
        },
        Some(Command::Replay(replay)) => shell::replay(&replay.files),
        Some(Command::Learn(learn)) => {
            let (lesson, language) = (learn.lesson.clone(), asked(learn.python, learn.rhai).or_else(|| language(&cli)));
            match learn.mark.clone() {
                Some(report) => {
                    let limit = Duration::from_secs(learn.timeout);
                    shell::mark(&Marking { report, lesson, limit, judged: learn.judge })
                }
                None => {
                    let (language, report) = (language.unwrap_or(Language::Python), learn.report.clone());
                    shell::learn(screen, &Learning { language, lesson, list: learn.list, reset: learn.reset, report })
                }
            }
        }
        Some(Command::Publish(Publish { output, site, rhai, lesson })) => shell::publish(&Publication {
            lesson: lesson.clone(),
            folder: output.clone(),
            language: if *rhai { Language::Rhai } else { Language::Python },
            site: site.clone(),
        }),
        Some(Command::Quiz(quiz)) => shell::quiz(
            screen,
            &Quizzing {
                topics: quiz.topics.clone(),
                level: quiz.level.map(usize::from),
                seed: quiz.seed,
                count: quiz.count.map(usize::from),
                answers: quiz.answers,
                language: asked(quiz.python, quiz.rhai).or_else(|| language(&cli)).unwrap_or(Language::Python),
                no_config: cli.no_config,
            },
        ),
        Some(Command::Inspect(inspect)) => shell::inspect(&as_text(&inspect.files), &reporting(inspect)),
        Some(Command::Diff(Diff { json, stat, tolerance, files })) => match as_text(files).as_slice() {
            [a, b] => shell::diff(
                [a, b],
                *tolerance,
                match (json, stat) {
                    (true, _) => DiffForm::Json,
                    (_, true) => DiffForm::Stat,
                    _ => DiffForm::Lines,
                },
            ),
            _ => 2,
        },
        Some(Command::Convert(convert)) => {
            shell::convert(&convert.from.to_string_lossy(), &convert.to.to_string_lossy(), &conversion(convert))
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
        None if let Some((name, args)) = cli.module.split_first() => shell::run_module(screen, name, args.to_vec()),
        None if !cli.code.is_empty() => shell::run_code(screen, language(&cli), &cli.code, as_text(&cli.script)),
        None => match cli.script.split_first() {
            Some((file, _)) if cli.interactive => shell::prompt(screen, opening(&cli, Some(file))),
            None if cli.keep_going && stdin().is_terminal() => {
                complain("tensorsh: --keep-going needs a script: tensorsh --keep-going FILE.py\n");
                2
            }
            script if cli.keep_going => {
                let file = script.map(|(file, _)| Path::new(file)).filter(|file| *file != Path::new("-"));
                shell::run_each_statement(screen, file, as_text(script.map_or(&[], |(_, args)| args)))
            }
            Some((file, args)) if file != "-" => shell::run_file(screen, file.as_ref(), as_text(args)),
            None if stdin().is_terminal() || cli.interactive => shell::prompt(screen, opening(&cli, None)),
            script => shell::run_standard_input(screen, language(&cli), as_text(script.map_or(&[], |(_, args)| args))),
        },
    }
}

fn reporting(inspect: &Inspect) -> Reporting {
    Reporting {
        filter: inspect.filter.clone(),
        sort: inspect.sort.map(|by| match by {
            SortBy::Name => Sort::Name,
            SortBy::Size => Sort::Size,
            SortBy::Dtype => Sort::Dtype,
        }),
        form: match (inspect.json, inspect.tree, inspect.summary) {
            (true, ..) => ReportForm::Json,
            (_, true, _) => ReportForm::Tree,
            (.., true) => ReportForm::Summary,
            _ => ReportForm::Table,
        },
    }
}

fn conversion(convert: &Convert) -> Conversion {
    let pairs = convert.rename.chunks_exact(2).filter_map(|pair| Some((pair.first()?.clone(), pair.get(1)?.clone())));
    Conversion {
        dtype: convert.dtype.clone(),
        only: convert.only.clone(),
        rename: pairs.collect(),
        tensors: convert.tensors,
        clone: convert.clone,
        bits: convert.bits,
        keep_device: convert.keep_device,
        shard_size: convert.shard_size,
    }
}

/// Reads the files that the options of `test` name.
fn testing(test: &Test, quiet: bool) -> Result<Testing, String> {
    let scope = test.session.map(|scope| match scope {
        SessionScope::Page => Scope::Page,
        SessionScope::Heading => Scope::Heading,
        SessionScope::Block => Scope::Block,
    });
    let mut options = Options { tolerance: test.tolerance, ..Options::default() };
    test.option.iter().try_for_each(|option| options.set(option))?;
    let setup = test.setup.as_ref().map(|path| Ok::<_, String>((path.display().to_string(), read_text(path)?)));
    let baseline = test.baseline.as_ref().map(|path| Baseline::read(path));
    let terms = Terms {
        update: test.update,
        limit: Some(Duration::from_secs(test.timeout)),
        filter: test.filter.clone(),
        reading: Reading { scope, options },
        setup: setup.transpose()?,
        baseline: baseline.transpose()?.map(Arc::new),
        ..Terms::default()
    };
    Ok(Testing {
        paths: test.paths.clone(),
        terms,
        quiet,
        fail_fast: test.fail_fast,
        review: test.review,
        watch: test.watch,
        json: test.json,
        junit: test.junit.clone(),
        strict: test.strict,
        allow_empty: test.allow_empty,
        diff: test.diff,
        write_baseline: test.write_baseline.clone(),
    })
}

fn opening(cli: &Cli, script: Option<&OsString>) -> PromptOptions {
    let args = cli.script.get(1..).unwrap_or_default();
    PromptOptions {
        quiet: cli.quiet,
        args: as_text(args),
        no_config: cli.no_config,
        language: language(cli),
        script: script.map(PathBuf::from),
        command: None,
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

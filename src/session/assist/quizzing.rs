//! Questions at the prompt: `:quiz`, `:predict` and `:fill`. Without a console, they print each question with its
//! answer.

use super::commands::usage;
use super::console::{Console, Reply};
use super::desk::Desk;
use super::marked::{Mark, Marked};
use crate::quiz::{Judgement, PRINTED, Question, Round, Sheet, SheetTerms, any_seed, picture_of};
use crate::{Completeness, Language, Picture, wrapped};

const SIGN: &str = "answer> ";
const GO_ON: &str = "-- press Enter for the next question --";

/// `:quiz [TOPIC] [--level N] [--seed N] [--count N]`
pub(super) fn quiz(desk: &Desk, console: &mut dyn Console, arguments: &str) -> Option<i32> {
    match SheetTerms::read(arguments, desk.language(), any_seed()) {
        Ok(terms) => ask_all(console, terms),
        Err(why) => {
            console.complain(&format!("{why}\n").into());
            usage(console, "quiz");
        }
    }
    None
}

/// How a question ended.
enum End {
    Answered,
    Quit,
}

fn ask_all(console: &mut dyn Console, terms: SheetTerms) {
    if !console.begin_questions() {
        let count = terms.count.or(Some(PRINTED));
        console.tell(&Sheet::new(SheetTerms { count, ..terms }).markdown(true).into());
        return;
    }
    let mut round = Round::new(terms);
    let mut number = 0;
    while let Some(question) = round.next_question() {
        number += 1;
        let text = stated(&question, number, round.terms.language, console.columns());
        if number == 1 {
            console.remark(&format!("Quiz on {}; :skip shows an answer, :quit leaves", round.terms.title()));
        }
        console.tell(&text);
        if let End::Quit = ask_one(console, &mut round) {
            break;
        }
    }
    let again = round.terms.command(round.terms.count);
    console.remark(&format!("{} of {} right. The same questions again: {again}", round.right, round.answered));
}

/// Asks the current question until it is answered.
fn ask_one(console: &mut dyn Console, round: &mut Round) -> End {
    loop {
        let line = match console.ask(SIGN) {
            Reply::Line(line) => line,
            Reply::Discarded => {
                console.remark("(type :quit or press Ctrl-D to leave the quiz)");
                continue;
            }
            Reply::Ended => return End::Quit,
        };
        match line.trim() {
            "" => {}
            line if is_quit(line) => return End::Quit,
            ":skip" => {
                console.remark(&format!("The answer is {}.", round.skipped()));
                return End::Answered;
            }
            line if line.starts_with(':') => {
                console.remark(&format!("A quiz has no command {line}, only :skip and :quit."))
            }
            line => match round.judge(line, console.columns()) {
                Judgement::Right => {
                    console.remark(&format!("Right. ({} of {})", round.right, round.answered));
                    return End::Answered;
                }
                Judgement::Unread(hint) => console.remark(hint),
                Judgement::Wrong { answer, picture } => {
                    console.remark(&format!("No, the answer is {answer}. ({} of {})", round.right, round.answered));
                    if let Some(picture) = picture {
                        console.draw(&picture);
                        // The next question would push the picture off the screen.
                        match console.ask(GO_ON) {
                            Reply::Ended => return End::Quit,
                            Reply::Line(line) if is_quit(line.trim()) => return End::Quit,
                            _ => {}
                        }
                    }
                    return End::Answered;
                }
            },
        }
    }
}

/// Returns a question as it is shown at a terminal.
fn stated(question: &Question, number: usize, language: Language, columns: usize) -> Marked {
    let mut text = Marked::default();
    text.push(Mark::Plain, "\n");
    text.push_remark(format!("{number}. {}, level {}", question.topic.name(), question.level));
    text.push(Mark::Plain, question.session(language));
    wrapped(&question.ask, columns).iter().for_each(|line| text.push(Mark::Plain, format!("{line}\n")));
    let choices: Vec<String> = question.choices().map(|(letter, choice)| format!("{letter}) {choice}")).collect();
    if !choices.is_empty() {
        text.push(Mark::Plain, format!("{}\n", choices.join("   ")));
    }
    text
}

/// `:predict CODE`
pub(super) fn predict(desk: &Desk, console: &mut dyn Console, code: &str) -> Option<i32> {
    if code.is_empty() {
        return usage(console, "predict");
    }
    let (language, code) = desk.language_of(code);
    // An input that cannot be read has no value to predict; it shows its error.
    let is_readable = desk.session().completeness(language, code) == Completeness::Complete;
    let mut typed = None;
    if is_readable {
        console.remark(&format!("What does `{code}` give? Type its value, `error`, or nothing to see it."));
        if console.begin_questions() {
            typed = match console.ask("prediction> ") {
                Reply::Line(line) => Some(line).filter(|line| !line.trim().is_empty()),
                Reply::Discarded | Reply::Ended => {
                    console.remark(&format!("`{code}` has not been run."));
                    return None;
                }
            };
        }
    }
    desk.mark_input();
    let predicted = desk.eval_predicted(console, language, code);
    let exit = desk.settle(console, &predicted.outcome, code, None);
    let is_stopped = predicted.outcome.error.as_ref().is_some_and(|error| error.interrupted);
    let Some(typed) = typed.filter(|_| exit.is_none() && !is_stopped) else { return exit };
    let is_right = desk.watched(console, false, |session| predicted.is_right(session, &typed));
    console.remark(match is_right {
        Some(true) => "Right.",
        Some(false) => "Not as predicted.",
        None => "The prediction has no value, so it is not judged.",
    });
    if let Some(picture) = desk.watched(console, false, |session| predicted.picture(session)) {
        console.draw(&picture);
    }
    exit
}

/// `:fill T[, PARTS]`
pub(super) fn fill(desk: &Desk, console: &mut dyn Console, arguments: &str) -> Option<i32> {
    if arguments.is_empty() {
        return usage(console, "fill");
    }
    let (language, arguments) = desk.language_of(arguments);
    let code = format!("blank({arguments})");
    let blank = match desk.watched(console, false, |session| picture_of(session, language, &code)) {
        Ok(blank) => blank,
        Err(failure) => {
            console.fail(&failure, &code, None);
            return None;
        }
    };
    let is_asking = console.begin_questions();
    console.draw(&blank);
    let Some(blanks) = &blank.blanks else { return None };
    let mut right = 0;
    for part in blanks.blanks.iter().take_while(|_| is_asking) {
        let reply = console.ask(&format!("{}> ", part.label));
        let Reply::Line(line) = reply else { break };
        match line.trim() {
            line if is_quit(line) => break,
            line if line != ":skip" && part.is_right(line) => {
                right += 1;
                console.remark("Right.");
            }
            _ => console.remark(&format!("No, it is {}.", part.answer)),
        }
    }
    if is_asking {
        console.remark(&format!("{right} of {} right.", blanks.blanks.len()));
    }
    console.draw(&Picture::of(blanks.solved.clone(), blank.width));
    None
}

/// Returns whether a line asks to leave.
fn is_quit(line: &str) -> bool {
    matches!(line, ":quit" | "exit" | "quit" | "exit()" | "quit()")
}

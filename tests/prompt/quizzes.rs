//! Questions at the prompt: quizzes and predictions.

use super::at_prompts;
use super::terminal::{CTRL_C, CTRL_D, Shell, Start};
use tensorsh::session::Language;
use tensorsh::session::quiz::{Sheet, SheetTerms, Topic};

/// The answers of a quiz on strides.
fn answers(level: usize, seed: u64, count: usize) -> Vec<String> {
    let topics = vec![Topic::Strides];
    let terms = SheetTerms { topics, level: Some(level), seed, count: Some(count), language: Language::Rhai };
    Sheet::new(terms).questions.iter().map(|question| question.answer()).collect()
}

/// The text without the line breaks of a narrow terminal.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_quiz_is_asked_judged_and_explained() {
    at_prompts(|shell| {
        let answers = answers(1, 7, 3);
        let asked = unwrapped(&shell.run(":quiz strides --level 1 --seed 7 --count 3"));
        assert!(asked.contains("Quiz on strides, level 1, seed 7"), "{asked}");
        assert!(asked.contains("1. strides, level 1 rhai> x = torch.zeros("), "{asked}");
        assert!(shell.run("perhaps").starts_with("Type "));
        let wrong = unwrapped(&shell.run("-77"));
        assert!(wrong.starts_with(&format!("No, the answer is {}. (0 of 1)", answers[0])), "{wrong}");
        // The picture, which does not go through the pager.
        assert!(wrong.contains("stride") && wrong.contains("cell"), "{wrong}");
        assert!(unwrapped(&shell.run("")).starts_with("2. strides, level 1"));
        assert!(unwrapped(&shell.run(&answers[1])).starts_with("Right. (1 of 2) 3. strides, level 1"));
        let end = unwrapped(&shell.run(":skip"));
        let again = "The same questions again: tensorsh quiz strides --level 1 --rhai --seed 7 --count 3";
        assert_eq!(end, format!("The answer is {}. 1 of 2 right. {again}", answers[2]));
        shell.check("1 + 1", "2\n");
    });
}

#[test]
fn a_quiz_can_be_left() {
    at_prompts(|shell| {
        shell.run(":quiz strides --seed 7");
        shell.send("(3,");
        shell.send(CTRL_C);
        assert!(unwrapped(&shell.ready()).contains("type :quit or press Ctrl-D"));
        assert!(unwrapped(&shell.run(":vars")).contains("A quiz has no command :vars"));
        assert!(unwrapped(&shell.run(":quit")).starts_with("0 of 0 right."));
        shell.run(":quiz strides --seed 7");
        shell.send(CTRL_D);
        assert!(unwrapped(&shell.ready()).starts_with("0 of 0 right."));
        assert!(unwrapped(&shell.run(":quiz stride")).contains("there is no topic stride; did you mean strides?"));
        shell.check("1 + 1", "2\n");
    });
}

#[test]
fn a_quiz_needs_no_prompt() {
    let start =
        Start { arguments: &["quiz", "strides", "--seed", "7", "--count", "1", "--level", "1"], ..Start::default() };
    let mut shell = Shell::open(&start);
    shell.send(&format!("{}\r", answers(1, 7, 1)[0]));
    shell.sees("1 of 1 right.");
    shell.ended();
}

#[test]
fn a_prediction_is_judged_by_value() {
    at_prompts(|shell| {
        shell.check("let x = torch.arange(6).view(2, 3);", "");
        assert!(unwrapped(&shell.run(":predict x.t().stride()")).starts_with("What does `x.t().stride()` give?"));
        let right = shell.run("[1, 3]");
        assert!(right.starts_with("(1, 3)\nRight.\n"), "{right}");
        assert!(unwrapped(&right).contains("int64 tensor of size [3, 2]"), "{right}");
        shell.run(":predict x[0] + 1");
        assert!(shell.run("[1, 2, 4]").starts_with("tensor([1, 2, 3])\nNot as predicted.\n"));
        shell.run(":predict x.t().view(6)");
        let refused = shell.run("error");
        assert!(refused.contains("RuntimeError") && refused.contains("\nRight.\n"), "{refused}");
        // Nothing runs before the prediction, and Enter alone shows the value.
        shell.run(":predict x.fill_(1).sum()");
        shell.send(CTRL_C);
        assert!(unwrapped(&shell.ready()).contains("has not been run"));
        shell.check("x.sum()", "tensor(15)\n");
        shell.run(":predict x.fill_(1).sum()");
        shell.check("", "tensor(6)\n");
        shell.run(":undo");
        shell.run(":undo");
        shell.check("x.sum()", "tensor(15)\n");
        let usage = unwrapped(&shell.run(":predict"));
        assert!(usage.contains("ask what CODE gives before it is shown"), "{usage}");
    });
}

#[test]
fn blank_parts_are_asked_for() {
    at_prompts(|shell| {
        shell.check("let x = torch.arange(4).view(2, 2).t();", "");
        let blank = shell.run(":fill x, \"index\", \"stride\"");
        assert!(blank.contains("____") && !blank.contains("[1, 2]"), "{blank}");
        assert!(shell.run("(1, 2)").starts_with("Right.\n"));
        assert!(shell.run("0 0").starts_with("Right.\n"));
        assert!(unwrapped(&shell.run("0,1")).starts_with("No, it is 1,0."));
        shell.run("0 1");
        let whole = shell.run("1 1");
        assert!(whole.starts_with("Right.\n4 of 5 right.\n"), "{whole}");
        assert!(whole.contains("[1, 2]") && !whole.contains("____"), "{whole}");
        assert!(unwrapped(&shell.run(":fill x, \"exponent\"")).contains("this picture has no part called exponent"));
        shell.run(":fill x");
        let left = shell.run(":quit");
        assert!(left.starts_with("0 of 8 right.\n"), "{left}");
        shell.check("1 + 1", "2\n");
    });
}

//! What every sheet must hold, over many seeds.

use super::answer::{Answer, Form};
use super::question::{computed, set_up, silent_session};
use super::sheet::Questions;
use super::{Judgement, Round, Sheet, SheetTerms, Topic};
use crate::Language;
use std::collections::{BTreeMap, BTreeSet};

fn terms(topic: Topic, level: usize, seed: u64, count: usize) -> SheetTerms {
    SheetTerms { topics: vec![topic], level: Some(level), seed, count: Some(count), language: Language::Python }
}

/// Makes questions of every topic and level, with seeds counted from `first`.
fn each(seeds: std::ops::Range<u64>, count: usize, mut check: impl FnMut(&mut Questions, super::Question)) {
    for topic in Topic::ALL {
        for level in 1..=3 {
            for seed in seeds.clone() {
                let mut questions = Questions::new(terms(topic, level, seed, count));
                while let Some(question) = questions.next() {
                    check(&mut questions, question);
                }
            }
        }
    }
}

#[test]
fn the_session_gives_every_stated_answer_again() {
    let mut session = silent_session();
    let mut made = 0;
    each(0..12, 8, |_, question| {
        assert!(set_up(&mut session, &question.steps), "{:?}", question.lines);
        let again = computed(&mut session, question.form, &question.expression);
        assert_eq!(again.as_ref(), Some(&question.answer), "{:?} {}", question.lines, question.ask);
        // The answer as it is printed is a right answer, and no other option is.
        let typed =
            |text: &str| Answer::read(question.form, text).is_some_and(|typed| question.answer.is_met_by(&typed));
        assert!(typed(&question.answer()), "{} {}", question.ask, question.answer());
        let right: Vec<&String> = question.options.iter().filter(|option| typed(option)).collect();
        assert_eq!(right.len(), usize::from(!question.options.is_empty()), "{:?}", question.options);
        assert_eq!(question.letter().is_some(), !question.options.is_empty());
        made += 1;
    });
    assert_eq!(made, 6 * 3 * 12 * 8);
}

#[test]
fn no_question_comes_twice_and_no_answer_is_a_safe_guess() {
    for topic in Topic::ALL {
        for level in 1..=3 {
            let sheet = Sheet::new(terms(topic, level, 5, 120));
            assert_eq!(sheet.questions.len(), 120, "{} {level}", topic.name());
            let asked: BTreeSet<String> = sheet.questions.iter().map(|q| format!("{:?}{}", q.lines, q.ask)).collect();
            assert_eq!(asked.len(), sheet.questions.len());
            let mut answers: BTreeMap<String, usize> = BTreeMap::new();
            let mut letters: BTreeMap<char, usize> = BTreeMap::new();
            let mut two_way = (0, 0);
            for question in &sheet.questions {
                *answers.entry(question.answer()).or_default() += 1;
                if let Some(letter) = question.letter() {
                    *letters.entry(letter).or_default() += 1;
                }
                if question.form.is_two_way() {
                    two_way.0 += usize::from(question.answer.is_first());
                    two_way.1 += 1;
                }
            }
            let most = answers.values().copied().max().unwrap_or_default();
            assert!(most <= 72, "{} {level}: {answers:?}", topic.name());
            let (first, all) = two_way;
            assert!(all == 0 || 4 * first >= all && 4 * (all - first) >= all, "{} {level}: {two_way:?}", topic.name());
            let chosen: usize = letters.values().sum();
            assert!(letters.values().all(|count| 2 * count <= chosen.max(8)), "{letters:?}");
        }
    }
}

#[test]
fn a_wrong_answer_is_explained_by_a_picture() {
    each(40..42, 6, |_, question| {
        let picture = question.picture(80);
        assert!(
            picture.is_some_and(|picture| picture.text().lines().count() > 2),
            "{:?} {}",
            question.lines,
            question.ask
        );
    });
}

#[test]
fn every_line_has_a_form_in_rhai() {
    each(60..64, 6, |questions, question| {
        for line in &question.lines {
            assert!(questions.session.rhai_form(line).is_ok(), "{line}");
        }
        // Code in a sentence stays on its line.
        for code in question.ask.split('`').skip(1).step_by(2) {
            assert!(questions.session.rhai_form(code).is_ok_and(|rhai| rhai.lines().count() == 1), "{code}");
        }
    });
}

#[test]
fn a_round_keeps_the_score() {
    let terms = SheetTerms { count: Some(3), ..terms(Topic::Strides, 1, 1, 3) };
    let mut round = Round::new(terms);
    let answers: Vec<String> = std::iter::from_fn(|| {
        round.next_question()?;
        Some(round.skipped())
    })
    .collect();
    let mut round = Round::new(round.terms.clone());
    assert!(round.next_question().is_some());
    assert!(matches!(round.judge("perhaps", 80), Judgement::Unread(_)));
    assert!(matches!(round.judge("-77", 80), Judgement::Wrong { answer, picture: Some(_) } if answer == answers[0]));
    round.next_question();
    assert!(matches!(round.judge(&answers[1], 80), Judgement::Right));
    round.next_question();
    assert_eq!((round.right, round.answered), (1, 2));
    assert!(round.next_question().is_none());
    assert!(matches!(round.judge("1", 80), Judgement::Unread(_)));
}

#[test]
fn arithmetic_and_letters_are_answers() {
    let mut session = silent_session();
    let mut question = (0..40)
        .find_map(|seed| {
            let mut questions = Questions::new(terms(Topic::Strides, 1, seed, 1));
            questions.next().filter(|question| question.form == Form::Number && !question.options.is_empty())
        })
        .unwrap();
    let Answer::Number(number) = question.answer else { panic!("{question:?}") };
    let letter = question.letter().unwrap();
    for typed in [format!("{letter}"), format!("{letter})"), format!("2*{number}/2"), format!("({number} + 1) - 1")] {
        let read = question.read(&mut session, &typed);
        assert!(read.is_some_and(|read| question.answer.is_met_by(&read)), "{typed}");
    }
    assert_eq!(question.read(&mut session, "2**9**9**9"), None);
    assert_eq!(question.read(&mut session, "__import__('os')"), None);
    question.form = Form::Sizes;
    question.answer = Answer::Sizes(vec![12, 4]);
    assert!(question.read(&mut session, "(3*4, 4)").is_some_and(|read| question.answer.is_met_by(&read)));
}

//! Lessons, quizzes and pictures with blank parts on a page.

use super::*;
use tensorsh::session::lessons::{find, lessons};

#[test]
fn lessons_are_told_in_both_languages() {
    let mut visit = Visit::new();
    let lessons = visit.answer(json!({ "ask": "lessons" }));
    let names: Vec<_> = lessons["lessons"].as_array().unwrap().iter().map(|l| l["name"].as_str().unwrap()).collect();
    assert_eq!((names.len(), names[0], names[10]), (13, "storage", "arrays"));
    for name in names {
        for language in ["python", "rhai"] {
            let (lesson, events) = visit.ask(json!({ "ask": "lesson", "name": name, "language": language }));
            assert_eq!(events, Vec::<Value>::new(), "{name}");
            let exercises = lesson["exercises"].as_array().unwrap();
            assert!(exercises.len() > 1 && exercises.iter().all(|exercise| exercise["hints"][0].is_array()), "{name}");
            let mut sessions = Vec::new();
            let told = lesson["parts"].as_array().unwrap().iter();
            let solved = exercises.iter().flat_map(|exercise| exercise["solution"].as_array().unwrap());
            for part in told.chain(solved) {
                assert!(part["prose"].is_string() != part["session"].is_array(), "{part}");
                sessions.extend(part["session"].as_array().into_iter().flatten());
            }
            assert!(sessions.len() > 5 && sessions.iter().all(|input| input["language"] == language), "{name}");
        }
    }
    assert_eq!(visit.answer(json!({ "ask": "files" })), json!({ "files": [] }));
    let refused = visit.answer(json!({ "ask": "lesson", "name": "none", "language": "rhai" }));
    assert_eq!(refused, json!({ "refused": "there is no lesson none" }));
}

/// A lesson of somebody else, with one exercise.
const THEIRS: &str = "# Theirs\n\n<script>alert(1)</script>\n\n```pycon\n>>> torch.save(torch.ones(1), \"made.pt\")\n>>> 1 + 1\n3\n\
                      ```\n\n## Exercise: three\n\nSay 3.\n\n<!-- given\nx = 3\n-->\n<!-- check\nanswer == x\n-->\n\n\
                      <details><summary>Hint</summary>\n\nThree.\n\n</details>\n";

#[test]
fn a_lesson_of_others_opens_without_running() {
    let mut visit = Visit::new();
    for language in ["python", "rhai"] {
        let asked = json!({ "ask": "lesson", "name": "strides", "text": THEIRS, "language": language });
        let (lesson, events) = visit.ask(asked);
        assert_eq!((&lesson["title"], events), (&json!("Theirs"), Vec::new()));
        let inputs = json!([
            { "language": "python", "source": "torch.save(torch.ones(1), \"made.pt\")", "output": "" },
            { "language": "python", "source": "1 + 1", "output": "3" },
        ]);
        assert_eq!(lesson["parts"], json!([{ "prose": "<script>alert(1)</script>" }, { "session": inputs }]));
        let exercise = &lesson["exercises"][0];
        assert_eq!((&exercise["title"], &exercise["hints"][0][0]["prose"]), (&json!("three"), &json!("Three.")));
        assert_eq!(exercise["solution"], json!([]));
    }
    assert_eq!(visit.answer(json!({ "ask": "files" })), json!({ "files": [] }));
    let attempt = |text: &str, exercise: usize| json!({ "ask": "attempt", "name": "strides", "text": text, "exercise": exercise, "language": "python" });
    let given = visit.answer(attempt(THEIRS, 0));
    assert_eq!(given, json!({ "given": [{ "language": "python", "source": "x = 3" }] }));
    for (source, verdict) in [("4", "wrong"), ("3", "right")] {
        assert_eq!(visit.answer(json!({ "ask": "try", "language": "python", "source": source }))["verdict"], verdict);
    }
    let refused = visit.answer(attempt(THEIRS, 1));
    assert_eq!(refused, json!({ "refused": "the lesson strides has no exercise 1" }));
    // A page that has changed is another lesson; a broken one says where.
    let changed = THEIRS.replace("x = 3", "x = 4");
    assert_eq!(visit.answer(attempt(&changed, 0))["given"][0]["source"], "x = 4");
    let broken = THEIRS.replace("# Theirs", "Theirs").replace("answer == x", "answer ==");
    let wanted =
        "line 1: a lesson has a title: write `# TITLE`\nline 19: check is not an expression of Python: answer ==";
    let asked = json!({ "ask": "lesson", "name": "strides", "text": broken, "language": "python" });
    assert_eq!(visit.answer(asked), json!({ "refused": wanted }));
}

#[test]
fn lessons_are_found() {
    tensorsh::provide_texts();
    assert_eq!(lessons().len(), 13);
    assert!(lessons().iter().all(|lesson| lesson.exercises.len() > 1 && lesson.parts.len() > 3));
    assert_eq!(find("3").map(|lesson| lesson.name.as_str()), Some("views"));
    assert_eq!(find("saving").map(|lesson| lesson.title.as_str()), Some("Saving and sharing"));
    assert!(find("0").is_none() && find("14").is_none() && find("none").is_none());
}

#[test]
fn answers_are_judged() {
    let mut visit = Visit::new();
    for lesson in lessons() {
        for (number, exercise) in lesson.exercises.iter().enumerate() {
            let rows = [(false, &exercise.wrong), (false, &exercise.tricks), (true, &exercise.right)];
            for (is_right, answers) in rows {
                let Some(source) = answers.first() else { continue };
                let begun = json!({ "ask": "attempt", "name": lesson.name, "exercise": number, "language": "python" });
                let given = visit.answer(begun);
                assert_eq!(given["given"].as_array().unwrap().len(), exercise.given.lines().count(), "{given}");
                let judged = visit.answer(json!({ "ask": "try", "language": "python", "source": source }));
                let (verdict, text) = (judged["verdict"].as_str().unwrap(), judged["text"].as_str().unwrap());
                let is_judged = (verdict == "right") == is_right && !text.is_empty();
                assert!(is_judged, "{}: {source}: {judged}", exercise.title);
            }
        }
    }
    let session = visit.answer(json!({ "ask": "leave" }));
    assert_eq!(session, json!({}));
    let refused = visit.answer(json!({ "ask": "try", "language": "python", "source": "1" }));
    assert_eq!(refused, json!({ "refused": "no exercise is active" }));
}

#[test]
fn an_exercise_has_a_session_of_its_own() {
    let mut visit = Visit::new();
    visit.run("python", "mine = 1");
    visit.answer(json!({ "ask": "attempt", "name": "views", "exercise": 0, "language": "python" }));
    let attempt = |source| json!({ "ask": "try", "language": "python", "source": source });
    let names = |answer: &Value| answer.to_string().contains("\"mine\"");
    assert!(!names(&visit.answer(json!({ "ask": "variables" }))));
    for (source, verdict, shown) in [
        ("mine", "error", "NameError: name 'mine' is not defined"),
        ("print(", "more", ""),
        ("?view", "step", "Tensor.view(dtype)"),
        (":vars", "step", "float32"),
        ("v?", "step", "float32 tensor of size [6]"),
        (":help", "step", ":undo [N]"),
        ("help", "step", ":undo [N]"),
        ("v[2] = 7", "wrong", ""),
        (":undo", "step", "Undone: `v[2] = 7`."),
        ("v", "step", "tensor([0., 0., 0., 0., 0., 0.])"),
        (":reset", "step", "begin the exercise again"),
        (":python v[2:4] = 7", "right", ""),
    ] {
        let (answer, events) = visit.ask(attempt(source));
        assert_eq!(answer["verdict"], verdict, "{source}: {answer}");
        assert!(text(&events).contains(shown), "{source}: {events:?}");
    }
    visit.answer(json!({ "ask": "leave" }));
    assert!(names(&visit.answer(json!({ "ask": "variables" }))));
}

#[test]
fn a_quiz_is_asked_and_judged() {
    let mut visit = Visit::new();
    let begun = json!({ "ask": "quiz", "topic": "strides", "level": 1, "seed": 7, "language": "python" });
    let first = visit.answer(begun.clone());
    assert_eq!(first, visit.answer(begun), "a seed makes the same quiz");
    assert_eq!((&first["question"]["number"], &first["question"]["topic"]), (&json!(1), &json!("strides")));
    assert_eq!(first["again"], "tensorsh quiz strides --level 1 --seed 7");
    assert!(first["question"]["session"].as_str().unwrap().starts_with(">>> x = torch.zeros("), "{first}");
    let unread = visit.answer(json!({ "ask": "guess", "text": "perhaps" }));
    assert_eq!((&unread["verdict"], &unread["answered"]), (&json!("unread"), &json!(0)));
    let wrong = visit.answer(json!({ "ask": "guess", "text": "-77" }));
    assert_eq!((&wrong["verdict"], &wrong["right"], &wrong["answered"]), (&json!("wrong"), &json!(0), &json!(1)));
    assert!(wrong["picture"]["svg"].as_str().unwrap().starts_with("<svg"), "{wrong}");
    // The answer to a skipped question is told, and is the right one when the quiz comes again.
    let mut answers = Vec::new();
    for _ in 0..3 {
        answers.push(visit.answer(json!({ "ask": "next" }))["skipped"].as_str().unwrap().to_owned());
    }
    visit.answer(json!({ "ask": "quiz", "topic": "strides", "level": 1, "seed": 7, "language": "python" }));
    for answer in answers {
        let judged = visit.answer(json!({ "ask": "guess", "text": answer }));
        assert_eq!((&judged["verdict"], &judged["picture"]), (&json!("right"), &Value::Null), "{answer}: {judged}");
        visit.answer(json!({ "ask": "next" }));
    }
    for (topic, level) in [("stride", 1), ("", 4)] {
        let asked = json!({ "ask": "quiz", "topic": topic, "level": level, "language": "python" });
        assert!(visit.answer(asked)["refused"].is_string());
    }
    let mut other = Visit::new();
    assert_eq!(other.answer(json!({ "ask": "guess", "text": "1" })), json!({ "refused": "no quiz is active" }));
}

#[test]
fn blank_parts_of_pictures_are_filled_in() {
    let mut visit = Visit::new();
    let source = "import torch; x = torch.arange(6).view(2, 3)\nblank(x.t(), 'index', 'stride')";
    let (_, events) = visit.ask(json!({ "ask": "run", "language": "python", "source": source }));
    let picture = events.iter().find(|event| event["event"] == "picture").unwrap();
    assert_eq!(picture["blanks"].as_array().unwrap().len(), 7, "{picture}");
    assert_eq!((&picture["blanks"][0], &picture["blanks"][2]), (&json!("stride"), &json!("index of cell 1")));
    let svg = picture["svg"].as_str().unwrap();
    assert!(svg.contains("aria-label=\"Blank 3: index of cell 1.\"") && !svg.contains("[1, 3]"), "{svg}");
    let id = picture["id"].clone();
    let mut fill =
        |blank: u64, text: &str| visit.answer(json!({ "ask": "fill", "id": id, "blank": blank, "text": text }));
    assert_eq!(fill(0, "(1, 3)"), json!({ "verdict": "right" }));
    assert_eq!(fill(2, "1 0"), json!({ "verdict": "right" }));
    assert_eq!(fill(2, "0,1"), json!({ "verdict": "wrong" }));
    assert!(fill(70, "0,1")["refused"].is_string());
    let whole = visit.answer(json!({ "ask": "solve", "id": id }));
    assert!(whole["alt"].as_str().unwrap().contains("[1, 3]"), "{whole}");
    assert!(visit.answer(json!({ "ask": "solve", "id": 99 }))["refused"].is_string());
}

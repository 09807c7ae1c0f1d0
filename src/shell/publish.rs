//! `tensorsh publish`: writes lessons as pages that any server of files can serve.

use std::fs;
use std::path::{Component, Path, PathBuf};

use super::learn::Course;
use super::{complain, show};
use files::{COMMON, replace};
use session::lessons::{Lesson, MARK, Publishing, contents, publish as page_of};
use session::transcript::{describe, with_slashes};
use session::{Language, Rehearsal};

/// The arguments of `tensorsh publish`.
#[derive(Clone, Debug)]
pub struct Publication {
    /// Lessons as for `tensorsh learn`. `None` means all of docs/learn.
    pub lesson: Option<String>,
    pub folder: PathBuf,
    pub language: Language,
    /// The address of the page in the browser, or its folder.
    pub site: Option<String>,
}

/// Writes the pages, and returns the exit status.
pub fn publish(wanted: &Publication) -> i32 {
    match pages(wanted).and_then(|pages| write(&wanted.folder, &pages)) {
        Ok(told) => {
            show(&told);
            0
        }
        Err(why) => {
            why.lines().for_each(|line| complain(&format!("tensorsh: {line}\n")));
            1
        }
    }
}

/// Makes all pages, each with the name of its file, before anything is written.
fn pages(wanted: &Publication) -> Result<Vec<(String, String)>, String> {
    let course = wanted.lesson.as_deref().map_or_else(|| Ok(Course::own()), Course::find)?;
    if course.exercise.is_some() {
        return Err("a lesson is published whole; leave out the number of the exercise".to_owned());
    }
    let lessons = match course.first {
        Some(first) => course.lessons.get(first..=first).unwrap_or_default(),
        None => &course.lessons,
    };
    if let Some(lesson) = lessons.iter().find(|lesson| lessons.len() > 1 && lesson.name.eq_ignore_ascii_case("index")) {
        return Err(format!("{}: index.html is the list of lessons; give the lesson another name", lesson.key));
    }
    fs::create_dir_all(&wanted.folder).map_err(|error| describe(&wanted.folder, &error))?;
    let site = wanted.site.as_deref().map(|site| address(site, &wanted.folder)).transpose()?;
    let publishing = Publishing { language: wanted.language, site };
    // Files that the sessions write are not part of the pages.
    let elsewhere = tempfile::tempdir().map_err(|error| format!("there is no place for temporary files: {error}"))?;
    let _rehearsal = Rehearsal::begin(elsewhere.path());
    let mut pages = Vec::new();
    for (index, lesson) in lessons.iter().enumerate() {
        let Some(page) = page_of(lessons, index, &publishing) else { continue };
        warn(lesson, &page.differing);
        pages.push((format!("{}.html", lesson.name), page.html));
    }
    // The list comes last, so that every page to which it links is there.
    if lessons.len() > 1 {
        pages.push(("index.html".to_owned(), contents(lessons)));
    }
    Ok(pages)
}

fn warn(lesson: &Lesson, differing: &[String]) {
    for input in differing {
        let first = input.lines().next().unwrap_or_default();
        complain(&format!("{}: {first}: prints something else than the lesson says; try tensorsh test\n", lesson.key));
    }
}

/// Writes the pages. Other people's files stay as they are.
fn write(folder: &Path, pages: &[(String, String)]) -> Result<String, String> {
    for (name, _) in pages {
        let path = with_slashes(folder.join(name));
        let is_ours = fs::read_to_string(&path).is_ok_and(|text| text.contains(MARK));
        if path.exists() && !is_ours {
            return Err(format!("{} is something else than a published lesson; choose another folder", path.display()));
        }
    }
    let mut told = String::new();
    for (name, html) in pages {
        let path = with_slashes(folder.join(name));
        replace(&path, html.as_bytes(), COMMON).map_err(|error| describe(&path, &error))?;
        told.push_str(&format!("{}\n", path.display()));
    }
    Ok(told)
}

/// Returns the address of the page in the browser, as a page in `folder` writes it.
fn address(site: &str, folder: &Path) -> Result<String, String> {
    if site.starts_with("https://") || site.starts_with("http://") {
        return Ok(site.trim_end_matches('/').to_owned());
    }
    let whole = |path: &Path| fs::canonicalize(path).map_err(|error| describe(path, &error));
    let there = Path::new(site);
    if !there.join("index.html").is_file() {
        return Err(format!("{site} is neither an address nor the folder of the page; scripts/web --build makes it"));
    }
    let (there, here) = (whole(there)?, whole(folder)?);
    let mut to = there.components().peekable();
    let mut from = here.components().peekable();
    while to.peek().is_some() && to.peek() == from.peek() {
        to.next();
        from.next();
    }
    let up = from.map(|_| "..".to_owned());
    let down = to.map(|step| match step {
        Component::Normal(name) => in_address(&name.to_string_lossy()),
        other => other.as_os_str().to_string_lossy().into_owned(),
    });
    let steps: Vec<String> = up.chain(down).collect();
    Ok(if steps.is_empty() { ".".to_owned() } else { steps.join("/") })
}

/// Returns the name of a file as a part of an address.
fn in_address(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let letter = |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    name.bytes().map(letter).collect()
}

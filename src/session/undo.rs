//! Undo: restores the session's state before an input, with its variables, functions and settings, and everything they
//! refer to.
//!
//! An input may write through any view of any storage. Memory is therefore copied before the input and compared
//! afterwards; unchanged bytes share one copy. For memory too large to copy, each write records the bytes it is about
//! to change (`tensor/journal.rs`).

mod reached;
mod settings;
mod snapshot;

use super::Session;
use snapshot::Snapshot;
use std::collections::{HashMap, VecDeque};
use tensor::memory::get;
use tensor::{Memory, journal, rehearsal};

/// The number of inputs that can be undone.
const STEPS: usize = 100;
/// The maximum number of bytes of all copies together. The oldest are dropped first.
const ALL_BYTES: usize = 128 << 20;

/// The latest states, newest last, and the undone ones, latest last.
#[derive(Default)]
pub(super) struct UndoHistory {
    steps: VecDeque<Snapshot>,
    undone: Vec<Snapshot>,
}

impl UndoHistory {
    /// Returns the number of storage handles held only by the undo history, by storage identity: those in snapshots,
    /// and those of tensors without other owners.
    pub(super) fn handles(&self) -> HashMap<usize, usize> {
        snapshot::handles(self.steps.iter().chain(&self.undone))
    }

    /// Adds the writes of the running input to the step taken before it.
    fn close(&mut self) {
        if let Some(journal) = journal::end()
            && let Some(step) = self.steps.back_mut()
        {
            step.add_writes(journal, rehearsal::take_written());
        }
    }
}

/// The effect of an undo. Variables are in order; functions of Rhai end in `()`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undone {
    /// Variables that have their earlier value or bytes again.
    pub restored: Vec<String>,
    /// Variables that did not exist yet.
    pub gone: Vec<String>,
    /// Variables that had been deleted.
    pub back: Vec<String>,
    /// Settings that were restored.
    pub settings: Vec<&'static str>,
    /// Reports on watched storages, if there is no listener.
    pub text: String,
    /// Variables that were too large to remember and keep their current values.
    pub left_out: Vec<String>,
    /// Files that were written. They are not restored.
    pub files: Vec<String>,
}

impl Session {
    /// Saves the present state. Call this before an input.
    pub fn remember(&mut self) {
        self.past.close();
        self.past.undone.clear();
        let snapshot = Snapshot::take(self, self.past.steps.back());
        self.past.steps.push_back(snapshot);
        while self.past.steps.len() > STEPS || (self.past.steps.len() > 1 && total(&self.past.steps) > ALL_BYTES) {
            self.past.steps.pop_front();
            // What it shared with the next is the next one's own now.
            if let Some(first) = self.past.steps.front_mut() {
                first.count_bytes(None);
            }
        }
        journal::begin();
        rehearsal::take_written();
    }

    /// Restores the state before the last remembered input. `None` if there is none.
    pub fn undo(&mut self) -> Option<Undone> {
        self.past.close();
        let snapshot = self.past.steps.pop_back()?;
        let present = Snapshot::take(self, Some(&snapshot));
        let (undone, present) = snapshot.restore(self, present);
        self.past.undone.push(present);
        Some(self.with_watch_reports(undone))
    }

    /// Restores the state before the last [`Session::undo`]. `None` if an input has been run since.
    pub fn redo(&mut self) -> Option<Undone> {
        self.past.close();
        let snapshot = self.past.undone.pop()?;
        let present = Snapshot::take(self, Some(&snapshot));
        let (done, mut present) = snapshot.restore(self, present);
        // It shares copies with the step that is gone, and perhaps none with the one that it follows.
        present.count_bytes(None);
        self.past.steps.push_back(present);
        Some(self.with_watch_reports(done))
    }

    /// Adds the reports on watched storages now, because the undo changed them, not the next input.
    fn with_watch_reports(&mut self, mut undone: Undone) -> Undone {
        self.runtime.tell_changes(|| self.holders());
        undone.text = self.runtime.take_printed();
        undone
    }
}

/// Returns the number of bytes of all copies, each counted once.
fn total(steps: &VecDeque<Snapshot>) -> usize {
    steps.iter().map(Snapshot::nbytes).sum()
}

/// Returns whether the memory holds exactly these bytes. Compares words, as this runs at every input.
pub(super) fn holds(memory: &Memory, bytes: &[u8]) -> bool {
    let (words, tail) = bytes.as_chunks::<8>();
    let rest = memory.bytes().get(bytes.len() - tail.len()..).unwrap_or_default();
    memory.typed::<u64>().iter().zip(words).all(|(cell, word)| get(cell) == u64::from_ne_bytes(*word))
        && rest.iter().zip(tail).all(|(cell, byte)| get(cell) == *byte)
}

#[cfg(test)]
mod tests {
    use super::Undone;
    use crate::{Language, Session, SessionOptions};

    fn eval(session: &mut Session, input: &str) -> String {
        let outcome = session.eval(Language::Python, input);
        assert_eq!(outcome.error, None, "{input}");
        outcome.text
    }

    #[test]
    fn names_of_dimensions_come_back() {
        let mut session = Session::new(SessionOptions::default());
        eval(&mut session, "import torch\nt = torch.zeros(1, 1, names=('A', 'B'))\nu = torch.zeros(1)");
        session.remember();
        eval(&mut session, "_ = t.rename_(None), u.rename_('C')");
        assert!(session.undo().is_some());
        assert_eq!(eval(&mut session, "t.names, u.names"), "(('A', 'B'), (None,))\n");
    }

    #[test]
    fn bytes_shapes_and_names_come_back() {
        let mut session = Session::new(SessionOptions::default());
        eval(&mut session, "import torch\nt = torch.arange(5.)\nv = t[1:3]\nb = bytearray(3)\nx = [t, 1]");
        session.remember();
        eval(&mut session, "x.append(5); v.fill_(9); t.resize_(2, 4); b[1] = 7; x = 3; y = 4; torch.manual_seed(1)");
        session.remember();
        eval(&mut session, "del t");
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let undone = session.undo().unwrap();
        assert_eq!(undone, Undone { back: names(&["t"]), ..Undone::default() });
        assert_eq!(eval(&mut session, "t.shape, x, y"), "(torch.Size([2, 4]), 3, 4)\n");
        let undone = session.undo().unwrap();
        let (restored, gone) = (names(&["t", "v", "b", "x"]), names(&["y"]));
        assert_eq!(undone, Undone { restored, gone, settings: vec!["random generator"], ..Undone::default() });
        assert_eq!(eval(&mut session, "t"), "tensor([0., 1., 2., 3., 4.])\n");
        assert_eq!(eval(&mut session, "v, b, x[0] is t"), "(tensor([1., 2.]), bytearray(b'\\x00\\x00\\x00'), True)\n");
        assert_eq!(eval(&mut session, "len(x)"), "2\n");
        assert!(session.eval(Language::Python, "y").error.is_some());
        assert!(session.undo().is_none());
    }

    #[test]
    fn watched_storages_tell_what_undo_has_changed() {
        let mut session = Session::new(SessionOptions::default());
        eval(&mut session, "import torch\nt = torch.arange(3)\nwatch(t)");
        session.remember();
        assert!(eval(&mut session, "t[1] = 7").contains("watch: 1 int64 element changed"));
        let undone = session.undo().unwrap();
        assert!(undone.text.contains("before │ 7") && undone.text.contains("after  │ 1"), "{}", undone.text);
        assert_eq!(eval(&mut session, "t"), "tensor([0, 1, 2])\n");
    }

    #[test]
    fn what_is_remembered_is_no_handle() {
        let mut session = Session::new(SessionOptions::default());
        eval(
            &mut session,
            "import torch\nt = torch.arange(5.)\nv = t[1:3]\nx = [t[2:]]\nw = t[3:]\ns = t.untyped_storage()",
        );
        let handles = |session: &mut Session| {
            let text = eval(session, "aliases()");
            text.lines().find(|line| line.starts_with("storage #1")).map(str::to_owned)
        };
        let before = handles(&mut session);
        assert_eq!(before.as_deref(), Some("storage #1: 20 bytes, held by 5 handles"));
        session.remember();
        session.remember();
        assert_eq!(handles(&mut session), before);
        eval(&mut session, "del w, s; x.clear()");
        assert_eq!(handles(&mut session).as_deref(), Some("storage #1: 20 bytes, held by 2 handles"));
    }

    #[test]
    fn remembered_arrays_are_no_handles() {
        let mut session = Session::new(SessionOptions::default());
        eval(&mut session, "import torch, numpy as np\na = np.arange(5)\nv = a[1:3]\nx = [a[2:]]");
        let handles = |session: &mut Session| {
            let text = eval(session, "aliases()");
            text.lines().find(|line| line.starts_with("storage #1")).map(str::to_owned)
        };
        assert_eq!(handles(&mut session).as_deref(), Some("storage #1: 40 bytes, held by 3 handles"));
        session.remember();
        eval(&mut session, "a.shape = (5, 1)");
        session.remember();
        eval(&mut session, "del v; x.clear()");
        assert_eq!(handles(&mut session).as_deref(), Some("storage #1: 40 bytes, held by 1 handle"));
        session.undo();
        assert_eq!(eval(&mut session, "v, x[0].base is a"), "(array([1, 2]), True)\n");
    }

    #[test]
    fn a_small_write_to_a_large_memory_is_undone() {
        let mut session = Session::new(SessionOptions::default());
        eval(&mut session, "import torch\nbig = torch.zeros(10000000)\nsmall = torch.zeros(2)");
        session.remember();
        eval(&mut session, "big[0] = 1; small[0] = 1");
        let undone = session.undo().map(|undone| undone.left_out);
        assert_eq!(undone, Some(Vec::new()));
        assert_eq!(eval(&mut session, "big[0], small[0]"), "(tensor(0.), tensor(0.))\n");
    }

    #[test]
    fn what_is_too_large_is_left_out_whole() {
        let mut session = Session::new(SessionOptions::default());
        eval(&mut session, "inner = [1]\nlarge = [[0], list(range(200000))]\nmixed = [inner, large]");
        session.remember();
        eval(&mut session, "inner[0] = large[0][0] = large[1][0] = 7");
        let undone = session.undo().unwrap();
        assert_eq!(
            (undone.restored, undone.left_out),
            (vec!["inner".to_owned()], vec!["large".to_owned(), "mixed".to_owned()])
        );
        assert_eq!(eval(&mut session, "inner, mixed[0], large[0], large[1][0]"), "([1], [1], [7], 7)\n");
    }

    /// A list that is met twice counts once, and one that has grown too large since is restored by name.
    #[test]
    fn a_large_list_is_counted_once() {
        let mut session = Session::new(SessionOptions::default());
        eval(&mut session, "xs = [0] * 60000\nxs.append(xs)\nd = {'a': xs, 'b': xs}");
        session.remember();
        eval(&mut session, "xs[0] = 5");
        let undone = session.undo().unwrap();
        assert_eq!((undone.restored, undone.left_out), (vec!["xs".to_owned(), "d".to_owned()], vec![]));
        session.remember();
        eval(&mut session, "xs.extend(range(100000))");
        assert_eq!(session.undo().unwrap().restored, ["xs", "d"]);
        assert_eq!(eval(&mut session, "len(xs), xs[0], xs[-1] is xs"), "(60001, 0, True)\n");
    }

    #[test]
    fn snapshots_share_what_has_not_changed() {
        let mut session = Session::new(SessionOptions::default());
        eval(&mut session, "xs = list(range(10000))\nd = dict.fromkeys(xs)\ns = set(xs)\nt = []");
        session.remember();
        let first = super::total(&session.past.steps);
        for _ in 0..10 {
            eval(&mut session, "t.append(1)");
            session.remember();
        }
        assert!(super::total(&session.past.steps) < first + first / 10);
        eval(&mut session, "xs[5] = -1; d[6] = 0; s.add(-1)");
        session.undo();
        assert_eq!(eval(&mut session, "xs[5], d[6], len(s), len(t)"), "(5, None, 10000, 10)\n");
        for _ in 0..10 {
            session.undo();
        }
        assert_eq!(eval(&mut session, "len(xs), len(d), len(s), len(t)"), "(10000, 10000, 10000, 0)\n");
    }

    /// Each row: an input with its language, an input that changes its effect, and a question whose answer must be the
    /// same before and after undo.
    #[test]
    fn everything_that_an_input_changes_comes_back() {
        use Language::{Python, Rhai};
        let rows = [
            (Rhai, "fn f() { 1 }", Rhai, "fn f() { 2 }", Rhai, "f()"),
            (
                Rhai,
                "fn f() { 1 }",
                Rhai,
                "fn f(x) { 2 } fn g() { 3 }",
                Rhai,
                "[is_def_fn(\"f\", 1), is_def_fn(\"g\", 0), f()]",
            ),
            (Rhai, "let n = 1; let f = || n;", Rhai, "n = 5;", Rhai, "[n, f()]"),
            (Rhai, "let n = 1; let f = || { n += 1; n };", Rhai, "f(); f();", Rhai, "n"),
            (Rhai, "let m = #{a: [1]}; let f = || m.a;", Rhai, "m.a.push(2);", Rhai, "[f(), m]"),
            (Rhai, "const C = 3;", Rhai, "let D = 4;", Rhai, "C"),
            (
                Python,
                "x = torch.ones(2)",
                Python,
                "x.untyped_storage().share_memory_(); x[0] = 4",
                Python,
                "x, x.is_shared()",
            ),
            (
                Python,
                "b = bytearray(2); x = torch.frombuffer(b, dtype=torch.uint8)",
                Python,
                "x[1] = 9; del x; b.append(3)",
                Python,
                "b, x",
            ),
            (Python, "x = torch.zeros(3); n = x.numpy()", Python, "n[1] = 7.", Python, "x, n"),
            (
                Python,
                "import numpy as np; a = np.arange(6); t = torch.from_numpy(a); r = a[::-2]",
                Python,
                "t[1] = 7; r[0] = 8; a.shape = (2, 3); r.dtype = '>i8'",
                Python,
                "a, a.shape, t, r, r.strides",
            ),
            (
                Python,
                "import numpy as np; a = np.arange(4.); v = a[::2]; n = np.arange(3)",
                Python,
                "a.setflags(write=False); v.flags.writeable = False; v.strides = (8,); n.resize(5)",
                Python,
                "a.flags.writeable, v.flags, v.strides, v, n",
            ),
            (
                Python,
                "import numpy as np; a = np.arange(4, dtype=np.int32); x = [a]; t = torch.from_numpy(a)",
                Python,
                "x[0].dtype = np.int16; a.sort(); t.fill_(3); a = a.view('>i2'); del t",
                Python,
                "a, x, a is x[0], t",
            ),
            (
                Python,
                "class P: pass\np = P()\np.v = 1",
                Python,
                "p.v = 2; p.w = 3; P.u = 4",
                Python,
                "p.v, hasattr(p, 'w'), hasattr(P, 'u')",
            ),
            (Python, "s = {1, 2}; d = {'a': s}; l = [d]", Python, "s.add(3); d['b'] = 1; l.clear()", Python, "s, d, l"),
            (
                Python,
                "def counter():\n    n = 0\n    def up():\n        nonlocal n\n        n += 1\n        return n\n    return up\nup = counter()",
                Python,
                "up(); up()",
                Python,
                "up()",
            ),
            (
                Python,
                "w = torch.ones(2, requires_grad=True)",
                Python,
                "(w * 2).sum().backward(); w.requires_grad_(False)",
                Python,
                "w.grad, w.requires_grad",
            ),
            (
                Python,
                "x = torch.ones(2); v = x.view(2)",
                Python,
                "x.add_(1); v.t_()",
                Python,
                "x, x._version, v._version",
            ),
            (
                Python,
                "g = torch.Generator().manual_seed(3)",
                Python,
                "torch.rand(2, generator=g)",
                Python,
                "torch.rand(1, generator=g)",
            ),
            (
                Python,
                "x = 1",
                Python,
                "torch.set_default_dtype(torch.float64); torch.set_grad_enabled(False); torch.set_printoptions(precision=2); torch.use_deterministic_algorithms(True)",
                Python,
                "torch.tensor(1/3), torch.is_grad_enabled(), torch.are_deterministic_algorithms_enabled()",
            ),
        ];
        for (first, before, second, input, third, question) in rows {
            let run = |does: bool| {
                let mut session = Session::new(SessionOptions::default());
                session.eval(Python, "import torch");
                assert_eq!(session.eval(first, before).error, None, "{before}");
                if does {
                    session.remember();
                    assert_eq!(session.eval(second, input).error, None, "{input}");
                    let changed = session.eval(third, question);
                    assert!(session.undo().is_some());
                    session.redo().expect("what was undone");
                    assert_eq!(session.eval(third, question).error, changed.error, "{input}");
                    assert!(session.undo().is_some());
                }
                let outcome = session.eval(third, question);
                (outcome.text, outcome.error)
            };
            assert_eq!(run(true), run(false), "{before}; {input}");
        }
    }

    #[test]
    fn writes_to_large_memories_are_noted() {
        let mut session = Session::new(SessionOptions::default());
        eval(
            &mut session,
            "import torch\nbig = torch.zeros(3000, 3000)\ns = big.untyped_storage()\ncolumn = big[:, 7]",
        );
        let sum = "big.sum().item()";
        for input in [
            "big[5] = 1.",
            "big[2, 3] = 1.",
            "column[:] = 2.",
            "s[8] = 63",
            "big[10:12].fill_(3)",
            "torch.add(big[0], 1, out=big[1])",
        ] {
            session.remember();
            eval(&mut session, input);
            assert_ne!(eval(&mut session, sum), "0.0\n", "{input}");
            let undone = session.undo().unwrap();
            assert_eq!(undone.left_out, Vec::<String>::new(), "{input}");
            assert!(undone.restored.contains(&"big".to_owned()), "{input}");
            assert_eq!(eval(&mut session, sum), "0.0\n", "{input}");
            session.redo().unwrap();
            assert_ne!(eval(&mut session, sum), "0.0\n", "{input}");
            session.undo().unwrap();
        }
        session.remember();
        eval(&mut session, "big.fill_(1)");
        let undone = session.undo().unwrap();
        assert_eq!(undone.left_out, ["big", "s", "column"]);
    }

    #[test]
    fn undo_names_the_arrays_that_it_restores() {
        let mut session = Session::new(SessionOptions::default());
        eval(&mut session, "import torch, numpy as np\na = np.arange(6)\nt = torch.from_numpy(a)\nb = np.ones(2)");
        session.remember();
        eval(&mut session, "a.shape = (3, 2)");
        assert_eq!(session.undo().unwrap().restored, ["a"]);
        session.remember();
        eval(&mut session, "a[-1] = 9");
        assert_eq!(session.undo().unwrap().restored, ["a", "t"]);
        assert_eq!(eval(&mut session, "a, t[5].item()"), "(array([0, 1, 2, 3, 4, 5]), 5)\n");
    }

    #[test]
    fn writes_to_large_arrays_are_noted() {
        const ANY: &str = "torch.from_numpy(big.view('i4')).any().item()";
        let mut session = Session::new(SessionOptions::default());
        eval(&mut session, "import torch, numpy as np\nbig = np.zeros((3000, 3000), dtype='>f4')\nrow = big[7, ::-1]");
        for input in ["big[5] = 1.", "row[3:5] = 2.", "row += 1", "big[1:, 0].fill(3)", "np.copyto(row, 2)"] {
            session.remember();
            eval(&mut session, input);
            assert_eq!(eval(&mut session, ANY), "True\n", "{input}");
            let undone = session.undo().unwrap();
            assert_eq!(undone.left_out, Vec::<String>::new(), "{input}");
            assert_eq!(undone.restored, ["big", "row"], "{input}");
            assert_eq!(eval(&mut session, ANY), "False\n", "{input}");
        }
        session.remember();
        eval(&mut session, "big[[5, 6]] = 1");
        assert_eq!(session.undo().unwrap().left_out, ["big", "row"]);
    }
}

//! `:undo` and `:redo` at the prompt.

use super::at_prompts;

#[test]
fn undo_brings_bytes_and_names_back() {
    at_prompts(|shell| {
        shell.check("let t = torch.ones(2);", "");
        shell.check("watch(t)", "");
        assert!(shell.run("t.fill_(5); let other = 1;").contains("watch: 2 float32 elements changed"));
        let said = shell.run(":undo");
        assert!(said.contains("Undone: `t.fill_(5); let other = 1;`. `t` is as before; `other` is gone."), "{said}");
        // Its effect on a watched storage is reported with it, not after the next input.
        assert!(said.contains("watch: 2 float32 elements changed"), "{said}");
        shell.check("t", "tensor([1., 1.])\n");
        let said = shell.run(":undo").replace("\n", " ");
        assert!(said.contains("Nothing to undo in `t`."), "{said}");
        assert!(shell.run("other").starts_with("NameError"));
    });
}

#[test]
fn several_steps_are_undone_and_done_again() {
    at_prompts(|shell| {
        shell.check(">>> import array", "");
        shell.check(">>> a = array.array('i', [1, 2])", "");
        shell.check(">>> t = torch.frombuffer(a, dtype=torch.int32)", "");
        shell.check("t[0] = -1;", "");
        shell.check("fn twice(x) { x * 2 }", "");
        let said = shell.run(":undo 2");
        assert!(said.contains("`twice()` is gone.") && said.contains("`a` and `t` are as before."), "{said}");
        shell.check("t", "tensor([1, 2], dtype=torch.int32)\n");
        assert!(shell.run(":redo").contains("Nothing to redo."));
        assert!(shell.run(":undo 3").contains("Nothing to undo in `t`."));
        assert!(shell.run(":redo 2").contains("Redone"));
        shell.check("t", "tensor([1, 2], dtype=torch.int32)\n");
        assert!(shell.run("twice(2)").starts_with("NameError"));
        assert!(shell.run(":undo soon").contains(":undo takes a number of steps, not `soon`: `:undo 3`"));
        assert!(shell.run(":undo 50").contains("Nothing more to undo."));
        assert!(shell.run("a").starts_with("NameError"));
    });
}

#[test]
fn a_write_to_a_large_tensor_is_undone_or_named() {
    at_prompts(|shell| {
        shell.check("let big = torch.zeros(10000000);", "");
        shell.check("big[3] = 1;", "");
        assert!(shell.run(":undo").contains("`big` is as before."));
        shell.check("big.sum().item()", "0.0\n");
        shell.check("big.fill_(1);", "");
        let said = shell.run(":undo").replace('\n', " ");
        assert!(said.contains("`big` is too large to undo; it keeps its present value."), "{said}");
    });
}

//! Assignments to undefined names declare a variable at a prompt, as in Julia: `x = 3`. A variable declared in `if` or
//! `switch` outlives the statement; one declared in a loop or in `try` does not.

use rhai::{AST, ASTNode, Expr, Position, Stmt};

/// A declared name, with the node it is visible in, or `None` if it is visible everywhere.
struct Declared {
    name: String,
    within: Option<*const ()>,
}

impl Declared {
    fn is_visible(&self, around: &[ASTNode]) -> bool {
        self.within.is_none_or(|within| around.iter().any(|node| address(node) == within))
    }
}

/// Finds the declarations that a text lacks, with the position to insert each: `let ` before the statement, or `let x;
/// ` if the assignment is inside the statement. Bodies of functions and closures are left alone, as they do not see
/// outer variables.
pub fn missing(ast: &AST, is_known: &dyn Fn(&str) -> bool) -> Vec<(Position, String)> {
    let mut missing = Vec::new();
    let mut declared: Vec<Declared> = Vec::new();
    for statement in ast.statements() {
        statement.walk(&mut Vec::new(), &mut |path| {
            let Some((node, around)) = path.split_last() else { return true };
            let (names, scope) = declared_names(node, around);
            declared
                .extend(names.into_iter().map(|name| Declared { name: name.to_owned(), within: scope.map(address) }));
            let Some((name, place)) = assigned(node) else { return true };
            if is_known(name) || declared.iter().any(|known| known.name == name && known.is_visible(around)) {
                return true;
            }
            // Names end with the innermost loop or `try`, so the declaration goes there, or into the text itself.
            let end = around.iter().rposition(ends_names);
            let words = match path.get(end.map_or(0, |end| end + 1)..) {
                Some([_]) => (place, "let ".to_owned()),
                Some([ASTNode::Stmt(whole @ (Stmt::If(..) | Stmt::Switch(..) | Stmt::Block(_))), ..]) => {
                    (whole.position(), format!("let {name}; "))
                }
                _ => return true,
            };
            missing.push(words);
            let within = end.and_then(|end| around.get(end)).map(address);
            declared.push(Declared { name: name.to_owned(), within });
            true
        });
    }
    missing
}

/// Returns the names that a node declares, and the node in which they are visible: the node itself or the surrounding
/// one.
fn declared_names<'n>(node: &'n ASTNode, around: &'n [ASTNode]) -> (Vec<&'n str>, Option<&'n ASTNode<'n>>) {
    match node {
        ASTNode::Stmt(Stmt::Var(variable, ..)) => (vec![variable.0.as_str()], around.last()),
        ASTNode::Stmt(Stmt::For(parts, _)) => {
            let counter = parts.1.as_ref().map(|counter| counter.as_str());
            (std::iter::once(parts.0.as_str()).chain(counter).collect(), Some(node))
        }
        ASTNode::Stmt(Stmt::TryCatch(parts, _)) => match &parts.expr {
            Expr::Variable(caught, ..) => (vec![caught.1.as_str()], Some(node)),
            _ => (Vec::new(), None),
        },
        _ => (Vec::new(), None),
    }
}

/// Returns the variable that a node assigns to, with its position.
fn assigned<'n>(node: &'n ASTNode) -> Option<(&'n str, Position)> {
    match node {
        ASTNode::Stmt(Stmt::Assignment(parts)) if !parts.0.is_op_assignment() => match &parts.1.lhs {
            Expr::Variable(variable, ..) => Some((variable.1.as_str(), parts.1.lhs.position())),
            _ => None,
        },
        _ => None,
    }
}

/// Returns whether names declared in a node end with the node.
fn ends_names(node: &ASTNode) -> bool {
    let ASTNode::Stmt(statement) = node else { return false };
    matches!(statement, Stmt::While(..) | Stmt::Do(..) | Stmt::For(..) | Stmt::TryCatch(..))
}

fn address(node: &ASTNode) -> *const () {
    match node {
        ASTNode::Stmt(statement) => std::ptr::from_ref::<Stmt>(statement).cast(),
        ASTNode::Expr(expr) => std::ptr::from_ref::<Expr>(expr).cast(),
        _ => std::ptr::null(),
    }
}

//! Assignments to names that nothing goes by, which make a variable at a prompt, as in Julia: `x = 3`, and `if` and
//! `switch` keep what is made in them; what is made in a loop or in `try` ends with it.

use rhai::{AST, ASTNode, Expr, Position, Stmt};

/// A declaration that a text lacks: before the statement at a place, in the text that was compiled.
pub struct Missing {
    pub position: Position,
    /// `let `, or `let x; ` where the assignment is inside of the statement.
    pub text: String,
}

/// A name that is visible within a node, or everywhere.
struct Declared {
    name: String,
    within: Option<*const ()>,
}

/// Finds the declarations that the statements of a text lack. Bodies of functions and closures are left alone: they see no
/// variables outside.
pub fn missing(ast: &AST, is_known: &dyn Fn(&str) -> bool) -> Vec<Missing> {
    let mut missing = Vec::new();
    let mut declared: Vec<Declared> = Vec::new();
    for statement in ast.statements() {
        let mut path = Vec::new();
        statement.walk(&mut path, &mut |path| {
            let Some(node) = path.last() else { return true };
            let around = path.get(..path.len() - 1).unwrap_or_default();
            let mut declare = |name: &str, within: Option<*const ()>| {
                declared.push(Declared { name: name.to_owned(), within });
            };
            match node {
                ASTNode::Stmt(Stmt::Var(variable, ..)) => declare(variable.0.as_str(), around.last().map(address)),
                ASTNode::Stmt(Stmt::For(parts, _)) => {
                    declare(parts.0.as_str(), Some(address(node)));
                    if let Some(counter) = &parts.1 {
                        declare(counter.as_str(), Some(address(node)));
                    }
                }
                ASTNode::Stmt(Stmt::TryCatch(parts, _)) => {
                    if let Expr::Variable(caught, ..) = &parts.expr {
                        declare(caught.1.as_str(), Some(address(node)));
                    }
                }
                ASTNode::Stmt(Stmt::Assignment(parts)) if !parts.0.is_op_assignment() => {
                    let Expr::Variable(variable, ..) = &parts.1.lhs else { return true };
                    let name = variable.1.as_str();
                    let visible = |declared: &Declared| {
                        declared.name == name
                            && declared.within.is_none_or(|within| around.iter().any(|node| address(node) == within))
                    };
                    if is_known(name) || declared.iter().any(visible) {
                        return true;
                    }
                    let scope = around
                        .iter()
                        .rposition(|node| matches!(node, ASTNode::Stmt(statement) if ends_names(statement)));
                    let first = scope.map_or(0, |scope| scope + 1);
                    let (position, text) = match path.get(first) {
                        _ if first + 1 == path.len() => (parts.1.lhs.position(), "let ".to_owned()),
                        Some(ASTNode::Stmt(statement @ (Stmt::If(..) | Stmt::Switch(..) | Stmt::Block(_)))) => {
                            (statement.position(), format!("let {name}; "))
                        }
                        _ => return true,
                    };
                    missing.push(Missing { position, text });
                    declared.push(Declared {
                        name: name.to_owned(),
                        within: scope.and_then(|scope| around.get(scope)).map(address),
                    });
                }
                _ => {}
            }
            true
        });
    }
    missing
}

/// Returns whether the names made in a statement end with it.
fn ends_names(statement: &Stmt) -> bool {
    matches!(statement, Stmt::While(..) | Stmt::Do(..) | Stmt::For(..) | Stmt::TryCatch(..))
}

fn address(node: &ASTNode) -> *const () {
    match node {
        ASTNode::Stmt(statement) => std::ptr::from_ref::<Stmt>(statement).cast(),
        ASTNode::Expr(expr) => std::ptr::from_ref::<Expr>(expr).cast(),
        _ => std::ptr::null(),
    }
}

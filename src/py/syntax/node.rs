//! What the rules for faults need to know of an expression: its kind, its place, and what it is made of.
//!
//! It must not know how expressions are read. The tree that programs are run from is ruff's.

use std::rc::Rc;

pub type NodeRef = Rc<Node>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Attribute,
    Await,
    Call,
    /// Of which the first operator is `in`.
    ComparisonIn,
    Comparison,
    Conditional,
    Dict,
    DictComp,
    Ellipsis,
    False,
    FormattedText,
    Generator,
    Lambda,
    List,
    ListComp,
    Literal,
    Name,
    Named,
    None,
    Operation,
    Set,
    SetComp,
    Starred,
    Subscript,
    True,
    Tuple,
    Yield,
    /// Not an expression: a block, a statement.
    Other,
}

#[derive(Debug)]
pub struct Node {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
    /// The elements of a tuple or list, what is starred, the left side of a comparison.
    pub items: Vec<NodeRef>,
}

/// For what an expression is a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Assign,
    Delete,
    For,
}

impl Kind {
    /// As Python calls it when it cannot be what it ought to be.
    pub fn spoken(self) -> &'static str {
        match self {
            Self::Attribute => "attribute",
            Self::Await => "await expression",
            Self::Call => "function call",
            Self::Comparison | Self::ComparisonIn => "comparison",
            Self::Conditional => "conditional expression",
            Self::Dict => "dict literal",
            Self::DictComp => "dict comprehension",
            Self::Ellipsis => "ellipsis",
            Self::False => "False",
            Self::FormattedText => "f-string expression",
            Self::Generator => "generator expression",
            Self::Lambda => "lambda",
            Self::List => "list",
            Self::ListComp => "list comprehension",
            Self::Literal => "literal",
            Self::Name => "name",
            Self::Named => "named expression",
            Self::None => "None",
            Self::Operation | Self::Other => "expression",
            Self::Set => "set display",
            Self::SetComp => "set comprehension",
            Self::Starred => "starred",
            Self::Subscript => "subscript",
            Self::True => "True",
            Self::Tuple => "tuple",
            Self::Yield => "yield expression",
        }
    }
}

/// The first part of a target that cannot be one.
pub fn unfit(node: &NodeRef, purpose: Purpose) -> Option<&NodeRef> {
    match node.kind {
        Kind::List | Kind::Tuple => node.items.iter().find_map(|item| unfit(item, purpose)),
        Kind::Starred if purpose == Purpose::Delete => Some(node),
        Kind::Starred => node.items.first().and_then(|item| unfit(item, purpose)),
        // `a in b` is read as one where `for a in b` is meant.
        Kind::ComparisonIn if purpose == Purpose::For => node.items.first().and_then(|left| unfit(left, purpose)),
        Kind::Comparison if purpose == Purpose::For => None,
        Kind::Name | Kind::Subscript | Kind::Attribute => None,
        _ => Some(node),
    }
}

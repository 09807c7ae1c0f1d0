//! The measured rows: one table with operations of all kinds, and one for each dtype and each layout, made from one
//! list of operations.

use crate::limit::Bound;

/// The side of the matrices in all measurements.
pub(crate) const SIDE: usize = 4096;

/// The operands of the unnamed table, each with the expression that creates it from `side` and its square `n`.
const OPERANDS: &[(&str, &str)] = &[
    ("x", "torch.rand(n)"),
    ("y", "torch.rand(n)"),
    ("z", "torch.rand(n)"),
    ("h", "x.half()"),
    ("i", "x.int()"),
    ("c", "x < y"),
    ("p", "torch.randperm(n)"),
    ("m", "x.view(side, side)"),
    ("a", "torch.rand(1024, 1024)"),
    ("b", "torch.rand(1024, 1024)"),
];

/// The name and the measured line of each row.
const ROWS: &[(&str, &str)] = &[
    ("copy", "z.copy_(x)"),
    ("clone", "x.clone()"),
    ("transposed-contiguous", "m.t().contiguous()"),
    ("to-float16", "x.half()"),
    ("to-bfloat16", "x.bfloat16()"),
    ("to-float8_e4m3fn", "x.to(torch.float8_e4m3fn)"),
    ("to-float8_e5m2", "x.to(torch.float8_e5m2)"),
    ("to-int32", "x.int()"),
    ("to-float64", "x.double()"),
    ("add", "x + y"),
    ("add-in-place", "z.add_(x)"),
    ("add-float16", "h + h"),
    ("add-int32", "i + i"),
    ("mul", "x * y"),
    ("mul-number", "x * 3.0"),
    ("div", "x / y"),
    ("pow", "x ** 2.5"),
    ("sqrt", "x.sqrt()"),
    ("relu", "x.relu()"),
    ("clamp", "x.clamp(0.25, 0.75)"),
    ("less", "x < y"),
    ("where", "torch.where(c, x, y)"),
    ("logical-and", "c & c"),
    ("masked-fill", "x.masked_fill(c, 0.5)"),
    ("exp", "x.exp()"),
    ("log", "x.log()"),
    ("log1p", "x.log1p()"),
    ("sin", "x.sin()"),
    ("cos", "x.cos()"),
    ("tanh", "x.tanh()"),
    ("sigmoid", "x.sigmoid()"),
    ("atan", "x.atan()"),
    ("erf", "x.erf()"),
    ("softmax", "m.softmax(1)"),
    ("sum", "x.sum()"),
    ("sum-rows", "m.sum(0)"),
    ("sum-columns", "m.sum(1)"),
    ("sum-int32", "i.sum()"),
    ("mean", "x.mean()"),
    ("norm", "x.norm()"),
    ("var", "x.var()"),
    ("var-columns", "m.var(1)"),
    ("prod", "x.prod()"),
    ("max", "x.max()"),
    ("max-rows", "m.amax(0)"),
    ("max-columns", "m.amax(1)"),
    ("max-and-index", "m.max(1)"),
    ("argmax", "x.argmax()"),
    ("any", "c.any()"),
    ("all", "c.all()"),
    ("count-nonzero", "c.count_nonzero()"),
    ("cumsum", "x.cumsum(0)"),
    ("cat", "torch.cat([x, y])"),
    ("gather", "x[p]"),
    ("arange", "torch.arange(0, n)"),
    ("fill", "z.fill_(0.5)"),
    ("rand", "torch.rand(n)"),
    ("randn", "torch.randn(n)"),
    ("sort", "x.sort()"),
    ("matmul-1024", "a.mm(b)"),
];

/// The tables for dtypes and layouts of operands: the expressions for `x`, and for `y` and `z`. All are matrices.
const TABLES: &[(&str, &str, &str)] = &[
    ("int8", INT8, INT8),
    ("int64", INT64, INT64),
    ("float64", FLOAT64, FLOAT64),
    ("bfloat16", BFLOAT16, BFLOAT16),
    ("complex64", COMPLEX64, COMPLEX64),
    ("transposed", "torch.rand(side, side).t()", FLOAT32),
    ("stepped", "torch.rand(side, 2 * side)[:, ::2]", FLOAT32),
    ("broadcast-row", "torch.rand(side).expand(side, side)", FLOAT32),
    ("broadcast-column", "torch.rand(side, 1).expand(side, side)", FLOAT32),
];
const INT8: &str = "torch.randint(1, 100, (side, side), dtype=torch.int8)";
const INT64: &str = "torch.randint(1, 100, (side, side))";
const FLOAT32: &str = "torch.rand(side, side)";
const FLOAT64: &str = "torch.rand(side, side, dtype=torch.float64)";
const BFLOAT16: &str = "torch.rand(side, side, dtype=torch.bfloat16)";
const COMPLEX64: &str = "torch.rand(side, side, dtype=torch.complex64)";
const CONDITION: &str = "torch.rand(side, side) < 0.5";

/// The operations of those tables: name, line, and the tables without the operation.
const OPERATIONS: &[(&str, &str, &[&str])] = &[
    ("copy", "z.copy_(x)", &[]),
    ("clone", "x.clone()", &[]),
    ("to-float32", "x.float()", &["complex64", "transposed", "stepped", "broadcast-row", "broadcast-column"]),
    ("add", "x + y", &[]),
    ("add-in-place", "z.add_(x)", &[]),
    ("mul", "x * y", &[]),
    ("div", "x / y", &[]),
    ("less", "x < y", &["complex64"]),
    ("equal", "x == y", &[]),
    ("where", "torch.where(c, x, y)", &[]),
    ("exp", "x.exp()", &["int8", "int64"]),
    ("sum", "x.sum()", &[]),
    ("sum-rows", "x.sum(0)", &[]),
    ("sum-columns", "x.sum(1)", &[]),
    ("max", "x.max()", &["complex64"]),
    ("max-rows", "x.amax(0)", &["complex64"]),
    ("max-columns", "x.amax(1)", &["complex64"]),
    ("cumsum", "x.cumsum(1)", &[]),
];

pub(crate) struct Row {
    pub name: String,
    pub line: String,
}

/// Rows with common operands.
pub(crate) struct Table {
    pub name: &'static str,
    pub operands: Vec<(&'static str, &'static str)>,
    pub rows: Vec<Row>,
}

/// Every table.
pub(crate) fn tables() -> Vec<Table> {
    let row = |name: &str, line: &str| Row { name: name.to_owned(), line: line.to_owned() };
    let first = Table {
        name: "",
        operands: OPERANDS.to_vec(),
        rows: ROWS.iter().map(|(name, line)| row(name, line)).collect(),
    };
    let others = TABLES.iter().map(|&(table, x, y)| {
        let has = |without: &[&str]| !without.contains(&table);
        let rows = OPERATIONS.iter().filter(|(_, _, without)| has(without));
        Table {
            name: table,
            operands: vec![("x", x), ("y", y), ("z", y), ("c", CONDITION)],
            rows: rows.map(|(name, line, _)| row(&format!("{name}-{table}"), line)).collect(),
        }
    });
    std::iter::once(first).chain(others).collect()
}

/// Returns the rows and tables of these names. Anything else is a line of your own on the first table's operands.
/// Without names, returns the first table.
pub(crate) fn selected(names: &[String]) -> Vec<Table> {
    let mut tables = tables();
    if names.is_empty() {
        tables.truncate(1);
        return tables;
    }
    let is_name = |name: &String| tables.iter().any(|t| t.name == name || t.rows.iter().any(|row| row.name == *name));
    let own: Vec<_> = names.iter().filter(|name| !is_name(name)).collect();
    let own: Vec<_> = own.into_iter().map(|line| Row { name: line.clone(), line: line.clone() }).collect();
    for table in &mut tables {
        let whole = names.iter().any(|name| name == table.name);
        table.rows.retain(|row| whole || names.contains(&row.name));
    }
    if let Some(first) = tables.first_mut() {
        first.rows.extend(own);
    }
    tables.retain(|table| !table.rows.is_empty());
    tables
}

impl Table {
    /// Returns the operands that these lines name, and those they are made from, in order.
    pub(crate) fn operands_of(&self, lines: &[&str]) -> Vec<(&'static str, &'static str)> {
        let mut needed: Vec<(&str, &str)> = Vec::new();
        for (name, made) in self.operands.iter().rev() {
            let is_named = |line: &str| words(line).any(|word| word == *name);
            if lines.iter().any(|line| is_named(line)) || needed.iter().any(|(_, made)| is_named(made)) {
                needed.push((*name, *made));
            }
        }
        needed.reverse();
        needed
    }
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
}

impl Row {
    /// Returns the operands that the row names, as arguments of a call.
    pub(crate) fn arguments(&self, table: &Table) -> String {
        let names = table.operands.iter().map(|(name, _)| *name);
        names.filter(|name| words(&self.line).any(|word| word == *name)).collect::<Vec<_>>().join(", ")
    }

    /// Returns whether the old elements of the destination are irrelevant.
    pub(crate) fn overwrites(&self) -> bool {
        [".copy_(", ".fill_("].iter().any(|method| self.line.contains(method))
    }

    /// Returns the resource that limits the row.
    pub(crate) fn bound(&self) -> Bound {
        match self.name.as_str() {
            "matmul-1024" => Bound::Arithmetic(2.0 * 1024f64.powi(3)),
            // These may stop at the first element.
            "any" | "all" => Bound::None,
            _ => Bound::Memory,
        }
    }
}

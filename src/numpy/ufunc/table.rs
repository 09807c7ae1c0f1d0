//! The table of universal functions: one row each, with the dtypes of its loops.

/// What [`Ufunc::identity`] prints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Identity {
    None,
    Number(i64),
    Bool(bool),
    NegativeInfinity,
}

/// A universal function.
#[derive(Debug)]
pub struct Ufunc {
    pub name: &'static str,
    pub op: Op,
    pub nin: usize,
    pub nout: usize,
    pub identity: Identity,
    /// The core dimensions of a function of more than single elements, such as `(n),(n)->()`.
    pub signature: Option<&'static str>,
    /// The codes of the dtypes of each loop, inputs first, in the order in which loops are tried.
    pub(super) loops: &'static str,
}

const SAME: &str = "??? bbb BBB hhh HHH iii III lll LLL eee fff ddd FFF DDD";
const ANALYTIC: &str = "ee ff dd ee ff dd FF DD";
const REAL_THREE: &str = "eee fff ddd";
const BITS: &str = "??? bbb BBB hhh HHH iii III lll LLL";
const ROUNDED: &str = "?? bb BB hh HH ii II ll LL ee ff dd ff dd";
const NUMBERS: &str = "bb BB hh HH ii II ll LL ee ff dd FF DD";
const WAVES: &str = "ee ff dd FF DD";
const REALS: &str = "ee ff dd";
const RELATION: &str = "??? bb? BB? hh? HH? ii? II? ll? LL? ee? ff? dd? FF? DD?";
const ROOTS: &str = "ee ff dd ff dd FF DD";
const QUOTIENTS: &str = "bbb BBB hhh HHH iii III lll LLL eee fff ddd";
const INTEGERS: &str = "bbb BBB hhh HHH iii III lll LLL";
const TESTS: &str = "?? b? B? h? H? i? I? l? L? e? f? d? F? D?";

macro_rules! ufuncs {
    ($($op:ident $name:literal $nin:literal $nout:literal $identity:expr, $signature:expr, $loops:expr;)*) => {
        /// Names the function of a [`Ufunc`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Op { $($op),* }

        /// Every universal function, sorted by name.
        pub static TABLE: &[Ufunc] = &[$(Ufunc {
            name: $name, op: Op::$op, nin: $nin, nout: $nout, identity: $identity, signature: $signature, loops: $loops,
        }),*];
    };
}

// Function, `__name__`, numbers of inputs and outputs, identity, core dimensions, loops.
ufuncs! {
    Absolute "absolute" 1 1 Identity::None, None, "?? bb BB hh HH ii II ll LL ee ff dd Ff Dd";
    Add "add" 2 1 Identity::Number(0), None, SAME;
    Arccos "arccos" 1 1 Identity::None, None, ANALYTIC;
    Arccosh "arccosh" 1 1 Identity::None, None, ANALYTIC;
    Arcsin "arcsin" 1 1 Identity::None, None, ANALYTIC;
    Arcsinh "arcsinh" 1 1 Identity::None, None, ANALYTIC;
    Arctan "arctan" 1 1 Identity::None, None, ANALYTIC;
    Arctan2 "arctan2" 2 1 Identity::None, None, REAL_THREE;
    Arctanh "arctanh" 1 1 Identity::None, None, ANALYTIC;
    BitwiseAnd "bitwise_and" 2 1 Identity::Number(-1), None, BITS;
    BitwiseCount "bitwise_count" 1 1 Identity::None, None, "bB BB hB HB iB IB lB LB";
    BitwiseOr "bitwise_or" 2 1 Identity::Number(0), None, BITS;
    BitwiseXor "bitwise_xor" 2 1 Identity::Number(0), None, BITS;
    Cbrt "cbrt" 1 1 Identity::None, None, "ee ff dd ee ff dd";
    Ceil "ceil" 1 1 Identity::None, None, ROUNDED;
    Clip "clip" 3 1 Identity::None, None, "???? bbbb BBBB hhhh HHHH iiii IIII llll LLLL eeee ffff dddd FFFF DDDD";
    Conjugate "conjugate" 1 1 Identity::None, None, NUMBERS;
    Copysign "copysign" 2 1 Identity::None, None, REAL_THREE;
    Cos "cos" 1 1 Identity::None, None, WAVES;
    Cosh "cosh" 1 1 Identity::None, None, ANALYTIC;
    DegToRad "deg2rad" 1 1 Identity::None, None, REALS;
    Degrees "degrees" 1 1 Identity::None, None, REALS;
    Divide "divide" 2 1 Identity::None, None, "eee fff ddd FFF DDD";
    Divmod "divmod" 2 2 Identity::None, None, "bbbb BBBB hhhh HHHH iiii IIII llll LLLL eeee ffff dddd";
    Equal "equal" 2 1 Identity::None, None, RELATION;
    Exp "exp" 1 1 Identity::None, None, ROOTS;
    Exp2 "exp2" 1 1 Identity::None, None, ANALYTIC;
    Expm1 "expm1" 1 1 Identity::None, None, ANALYTIC;
    Fabs "fabs" 1 1 Identity::None, None, REALS;
    FloatPower "float_power" 2 1 Identity::None, None, "ddd DDD";
    Floor "floor" 1 1 Identity::None, None, ROUNDED;
    FloorDivide "floor_divide" 2 1 Identity::None, None, QUOTIENTS;
    Fmax "fmax" 2 1 Identity::None, None, SAME;
    Fmin "fmin" 2 1 Identity::None, None, SAME;
    Fmod "fmod" 2 1 Identity::None, None, QUOTIENTS;
    Frexp "frexp" 1 2 Identity::None, None, "eei ffi ddi";
    Gcd "gcd" 2 1 Identity::Number(0), None, INTEGERS;
    Greater "greater" 2 1 Identity::None, None, RELATION;
    GreaterEqual "greater_equal" 2 1 Identity::None, None, RELATION;
    Heaviside "heaviside" 2 1 Identity::None, None, REAL_THREE;
    Hypot "hypot" 2 1 Identity::Number(0), None, REAL_THREE;
    Invert "invert" 1 1 Identity::None, None, "?? bb BB hh HH ii II ll LL";
    Isfinite "isfinite" 1 1 Identity::None, None, TESTS;
    Isinf "isinf" 1 1 Identity::None, None, TESTS;
    Isnan "isnan" 1 1 Identity::None, None, TESTS;
    Isnat "isnat" 1 1 Identity::None, None, "";
    Lcm "lcm" 2 1 Identity::None, None, INTEGERS;
    Ldexp "ldexp" 2 1 Identity::None, None, "eie fif ele flf did dld";
    LeftShift "left_shift" 2 1 Identity::None, None, INTEGERS;
    Less "less" 2 1 Identity::None, None, RELATION;
    LessEqual "less_equal" 2 1 Identity::None, None, RELATION;
    Log "log" 1 1 Identity::None, None, ROOTS;
    Log10 "log10" 1 1 Identity::None, None, ANALYTIC;
    Log1p "log1p" 1 1 Identity::None, None, ANALYTIC;
    Log2 "log2" 1 1 Identity::None, None, ANALYTIC;
    Logaddexp "logaddexp" 2 1 Identity::NegativeInfinity, None, REAL_THREE;
    Logaddexp2 "logaddexp2" 2 1 Identity::NegativeInfinity, None, REAL_THREE;
    LogicalAnd "logical_and" 2 1 Identity::Bool(true), None, RELATION;
    LogicalNot "logical_not" 1 1 Identity::None, None, TESTS;
    LogicalOr "logical_or" 2 1 Identity::Bool(false), None, RELATION;
    LogicalXor "logical_xor" 2 1 Identity::Bool(false), None, RELATION;
    Matmul "matmul" 2 1 Identity::None, Some("(n?,k),(k,m?)->(n?,m?)"), SAME;
    Matvec "matvec" 2 1 Identity::None, Some("(m,n),(n)->(m)"), SAME;
    Maximum "maximum" 2 1 Identity::None, None, SAME;
    Minimum "minimum" 2 1 Identity::None, None, SAME;
    Modf "modf" 1 2 Identity::None, None, REAL_THREE;
    Multiply "multiply" 2 1 Identity::Number(1), None, SAME;
    Negative "negative" 1 1 Identity::None, None, NUMBERS;
    Nextafter "nextafter" 2 1 Identity::None, None, REAL_THREE;
    NotEqual "not_equal" 2 1 Identity::None, None, RELATION;
    Positive "positive" 1 1 Identity::None, None, NUMBERS;
    Power "power" 2 1 Identity::None, None, "bbb BBB hhh HHH iii III lll LLL eee fff ddd eee fff ddd FFF DDD";
    RadToDeg "rad2deg" 1 1 Identity::None, None, REALS;
    Radians "radians" 1 1 Identity::None, None, REALS;
    Reciprocal "reciprocal" 1 1 Identity::None, None, NUMBERS;
    Remainder "remainder" 2 1 Identity::None, None, QUOTIENTS;
    RightShift "right_shift" 2 1 Identity::None, None, INTEGERS;
    Rint "rint" 1 1 Identity::None, None, ROOTS;
    Sign "sign" 1 1 Identity::None, None, NUMBERS;
    Signbit "signbit" 1 1 Identity::None, None, "e? f? d?";
    Sin "sin" 1 1 Identity::None, None, WAVES;
    Sinh "sinh" 1 1 Identity::None, None, ANALYTIC;
    Spacing "spacing" 1 1 Identity::None, None, REALS;
    Sqrt "sqrt" 1 1 Identity::None, None, ROOTS;
    Square "square" 1 1 Identity::None, None, NUMBERS;
    Subtract "subtract" 2 1 Identity::None, None, "bbb BBB hhh HHH iii III lll LLL eee fff ddd FFF DDD";
    Tan "tan" 1 1 Identity::None, None, ANALYTIC;
    Tanh "tanh" 1 1 Identity::None, None, ANALYTIC;
    Trunc "trunc" 1 1 Identity::None, None, ROUNDED;
    Vecdot "vecdot" 2 1 Identity::None, Some("(n),(n)->()"), SAME;
    Vecmat "vecmat" 2 1 Identity::None, Some("(n),(n,m)->(m)"), SAME;
}

/// Other names of functions.
const ALIASES: &[(&str, &str)] = &[
    ("abs", "absolute"),
    ("acos", "arccos"),
    ("acosh", "arccosh"),
    ("asin", "arcsin"),
    ("asinh", "arcsinh"),
    ("atan", "arctan"),
    ("atan2", "arctan2"),
    ("atanh", "arctanh"),
    ("bitwise_invert", "invert"),
    ("bitwise_left_shift", "left_shift"),
    ("bitwise_not", "invert"),
    ("bitwise_right_shift", "right_shift"),
    ("conj", "conjugate"),
    ("mod", "remainder"),
    ("pow", "power"),
    ("true_divide", "divide"),
];

/// Finds a function by its name or an alias.
pub fn find(name: &str) -> Option<&'static Ufunc> {
    let own = |name: &str| TABLE.binary_search_by(|ufunc| ufunc.name.cmp(name)).ok().and_then(|at| TABLE.get(at));
    own(name).or_else(|| own(ALIASES.iter().find(|(alias, _)| *alias == name)?.1))
}

impl Ufunc {
    /// Returns NumPy's `ufunc.types`, without those of dtypes that arrays here cannot have: `['bb->b', …]`.
    pub fn types(&self) -> Vec<String> {
        let arrow = |codes: &str| format!("{}->{}", &codes[..self.nin], &codes[self.nin..]);
        self.loops.split_whitespace().map(arrow).collect()
    }
}

impl Op {
    pub fn is_comparison(self) -> bool {
        use Op::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        matches!(self, Equal | Greater | GreaterEqual | Less | LessEqual | NotEqual)
    }

    pub fn is_logical(self) -> bool {
        matches!(self, Op::LogicalAnd | Op::LogicalOr | Op::LogicalXor)
    }

    /// Returns whether an infinity or NaN that no input contains is an error of arithmetic.
    pub(super) fn raises(self) -> bool {
        use Op::{Clip, Conjugate, Copysign, Fmax, Fmin, Frexp, Heaviside, Maximum, Minimum, Modf, Negative, Sign};
        !matches!(
            self,
            Clip | Conjugate | Copysign | Fmax | Fmin | Frexp | Heaviside | Maximum | Minimum | Modf | Negative | Sign
        )
    }
}

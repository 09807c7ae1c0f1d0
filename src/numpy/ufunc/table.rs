//! The table of universal functions: one row each, with the dtypes of its loops.

/// What [`Ufunc::identity`] prints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Identity {
    None,
    Number(i64),
    Bool(bool),
    NegativeInfinity,
}

/// The codes of dtypes that arrays here cannot have, or that another code names first: `longlong`, `longdouble`, its
/// complex numbers, objects, time spans and dates.
const FOREIGN: [char; 7] = ['q', 'Q', 'g', 'G', 'O', 'm', 'M'];

/// A universal function.
#[derive(Debug)]
pub(crate) struct Ufunc {
    pub name: &'static str,
    pub op: Op,
    pub nin: usize,
    pub nout: usize,
    pub identity: Identity,
    /// The core dimensions of a function of more than single elements, such as `(n),(n)->()`.
    pub signature: Option<&'static str>,
    /// The codes of the dtypes of each loop, inputs first, in the order in which loops are tried. Those with a code of
    /// [`FOREIGN`] are only listed, never run.
    pub(super) loops: &'static str,
}

const ANALYTIC: &str = "ee ff dd ee ff dd gg FF DD GG OO";
const REAL_THREE: &str = "eee fff ddd ggg OOO";
const BITS: &str = "??? bbb BBB hhh HHH iii III lll LLL qqq QQQ OOO";
const ROUNDED: &str = "?? bb BB hh HH ii II ll LL qq QQ ee ff dd ff dd gg OO";
const NUMBERS: &str = "bb BB hh HH ii II ll LL qq QQ ee ff dd gg FF DD GG OO";
const SIGNS: &str = "eee fff ddd ggg";
const WAVES: &str = "ee ff dd gg FF DD GG OO";
const REALS: &str = "ee ff dd gg OO";
const RELATION: &str =
    "??? bb? BB? hh? HH? ii? II? ll? LL? qq? QQ? qQ? Qq? ee? ff? dd? gg? FF? DD? GG? MM? mm? OO? OOO";
const ROOTS: &str = "ee ff dd ff dd gg FF DD GG OO";
const EXTREMES: &str = "??? bbb BBB hhh HHH iii III lll LLL qqq QQQ eee fff ddd ggg FFF DDD GGG mmm MMM OOO";
const INTEGERS: &str = "bbb BBB hhh HHH iii III lll LLL qqq QQQ OOO";
const TESTS: &str = "?? b? B? h? H? i? I? l? L? q? Q? e? f? d? g? F? D? G? m? M?";
const CONNECTIVES: &str = "??? bb? BB? hh? HH? ii? II? ll? LL? qq? QQ? ee? ff? dd? gg? FF? DD? GG? OOO";
const PRODUCTS: &str = "??? bbb BBB hhh HHH iii III lll LLL qqq QQQ eee fff ddd ggg FFF DDD GGG OOO";
const SIGNED: &str = "bb BB hh HH ii II ll LL qq QQ ee ff dd gg mm FF DD GG OO";

macro_rules! ufuncs {
    ($($op:ident $name:literal $nin:literal $nout:literal $identity:expr, $signature:expr, $loops:expr;)*) => {
        /// Names the function of a [`Ufunc`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Op { $($op),* }

        /// Every universal function, sorted by name.
        pub(crate) static TABLE: &[Ufunc] = &[$(Ufunc {
            name: $name, op: Op::$op, nin: $nin, nout: $nout, identity: $identity, signature: $signature, loops: $loops,
        }),*];
    };
}

// Function, `__name__`, numbers of inputs and outputs, identity, core dimensions, loops.
ufuncs! {
    Absolute "absolute" 1 1 Identity::None, None, "?? bb BB hh HH ii II ll LL qq QQ ee ff dd gg mm Ff Dd Gg OO";
    Add "add" 2 1 Identity::Number(0), None,
        "??? bbb BBB hhh HHH iii III lll LLL qqq QQQ eee fff ddd ggg FFF DDD GGG MmM mmm mMM OOO";
    Arccos "arccos" 1 1 Identity::None, None, ANALYTIC;
    Arccosh "arccosh" 1 1 Identity::None, None, ANALYTIC;
    Arcsin "arcsin" 1 1 Identity::None, None, ANALYTIC;
    Arcsinh "arcsinh" 1 1 Identity::None, None, ANALYTIC;
    Arctan "arctan" 1 1 Identity::None, None, ANALYTIC;
    Arctan2 "arctan2" 2 1 Identity::None, None, REAL_THREE;
    Arctanh "arctanh" 1 1 Identity::None, None, ANALYTIC;
    BitwiseAnd "bitwise_and" 2 1 Identity::Number(-1), None, BITS;
    BitwiseCount "bitwise_count" 1 1 Identity::None, None, "bB BB hB HB iB IB lB LB qB QB OO";
    BitwiseOr "bitwise_or" 2 1 Identity::Number(0), None, BITS;
    BitwiseXor "bitwise_xor" 2 1 Identity::Number(0), None, BITS;
    Cbrt "cbrt" 1 1 Identity::None, None, "ee ff dd ee ff dd gg OO";
    Ceil "ceil" 1 1 Identity::None, None, ROUNDED;
    Clip "clip" 3 1 Identity::None, None,
        "???? bbbb BBBB hhhh HHHH iiii IIII llll LLLL qqqq QQQQ eeee ffff dddd gggg FFFF DDDD GGGG mmmm MMMM OOOO";
    Conjugate "conjugate" 1 1 Identity::None, None, NUMBERS;
    Copysign "copysign" 2 1 Identity::None, None, SIGNS;
    Cos "cos" 1 1 Identity::None, None, WAVES;
    Cosh "cosh" 1 1 Identity::None, None, ANALYTIC;
    DegToRad "deg2rad" 1 1 Identity::None, None, REALS;
    Degrees "degrees" 1 1 Identity::None, None, REALS;
    Divide "divide" 2 1 Identity::None, None, "eee fff ddd ggg FFF DDD GGG mqm mdm mmd OOO";
    Divmod "divmod" 2 2 Identity::None, None,
        "bbbb BBBB hhhh HHHH iiii IIII llll LLLL qqqq QQQQ eeee ffff dddd gggg mmqm";
    Equal "equal" 2 1 Identity::None, None, RELATION;
    Exp "exp" 1 1 Identity::None, None, ROOTS;
    Exp2 "exp2" 1 1 Identity::None, None, ANALYTIC;
    Expm1 "expm1" 1 1 Identity::None, None, ANALYTIC;
    Fabs "fabs" 1 1 Identity::None, None, REALS;
    FloatPower "float_power" 2 1 Identity::None, None, "ddd ggg DDD GGG";
    Floor "floor" 1 1 Identity::None, None, ROUNDED;
    FloorDivide "floor_divide" 2 1 Identity::None, None,
        "bbb BBB hhh HHH iii III lll LLL qqq QQQ eee fff ddd ggg mqm mdm mmq OOO";
    Fmax "fmax" 2 1 Identity::None, None, EXTREMES;
    Fmin "fmin" 2 1 Identity::None, None, EXTREMES;
    Fmod "fmod" 2 1 Identity::None, None, "bbb BBB hhh HHH iii III lll LLL qqq QQQ eee fff ddd ggg OOO";
    Frexp "frexp" 1 2 Identity::None, None, "eei ffi ddi ggi";
    Gcd "gcd" 2 1 Identity::Number(0), None, INTEGERS;
    Greater "greater" 2 1 Identity::None, None, RELATION;
    GreaterEqual "greater_equal" 2 1 Identity::None, None, RELATION;
    Heaviside "heaviside" 2 1 Identity::None, None, SIGNS;
    Hypot "hypot" 2 1 Identity::Number(0), None, REAL_THREE;
    Invert "invert" 1 1 Identity::None, None, "?? bb BB hh HH ii II ll LL qq QQ OO";
    Isfinite "isfinite" 1 1 Identity::None, None, TESTS;
    Isinf "isinf" 1 1 Identity::None, None, TESTS;
    Isnan "isnan" 1 1 Identity::None, None, TESTS;
    Isnat "isnat" 1 1 Identity::None, None, "M? m?";
    Lcm "lcm" 2 1 Identity::None, None, INTEGERS;
    Ldexp "ldexp" 2 1 Identity::None, None, "eie fif ele flf did dld gig glg";
    LeftShift "left_shift" 2 1 Identity::None, None, INTEGERS;
    Less "less" 2 1 Identity::None, None, RELATION;
    LessEqual "less_equal" 2 1 Identity::None, None, RELATION;
    Log "log" 1 1 Identity::None, None, ROOTS;
    Log10 "log10" 1 1 Identity::None, None, ANALYTIC;
    Log1p "log1p" 1 1 Identity::None, None, ANALYTIC;
    Log2 "log2" 1 1 Identity::None, None, ANALYTIC;
    Logaddexp "logaddexp" 2 1 Identity::NegativeInfinity, None, SIGNS;
    Logaddexp2 "logaddexp2" 2 1 Identity::NegativeInfinity, None, SIGNS;
    LogicalAnd "logical_and" 2 1 Identity::Bool(true), None, CONNECTIVES;
    LogicalNot "logical_not" 1 1 Identity::None, None, "?? b? B? h? H? i? I? l? L? q? Q? e? f? d? g? F? D? G? OO";
    LogicalOr "logical_or" 2 1 Identity::Bool(false), None, CONNECTIVES;
    LogicalXor "logical_xor" 2 1 Identity::Bool(false), None, CONNECTIVES;
    Matmul "matmul" 2 1 Identity::None, Some("(n?,k),(k,m?)->(n?,m?)"), PRODUCTS;
    Matvec "matvec" 2 1 Identity::None, Some("(m,n),(n)->(m)"), PRODUCTS;
    Maximum "maximum" 2 1 Identity::None, None, EXTREMES;
    Minimum "minimum" 2 1 Identity::None, None, EXTREMES;
    Modf "modf" 1 2 Identity::None, None, SIGNS;
    Multiply "multiply" 2 1 Identity::Number(1), None,
        "??? bbb BBB hhh HHH iii III lll LLL qqq QQQ eee fff ddd ggg FFF DDD GGG mqm qmm mdm dmm OOO";
    Negative "negative" 1 1 Identity::None, None, SIGNED;
    Nextafter "nextafter" 2 1 Identity::None, None, SIGNS;
    NotEqual "not_equal" 2 1 Identity::None, None, RELATION;
    Positive "positive" 1 1 Identity::None, None, SIGNED;
    Power "power" 2 1 Identity::None, None,
        "bbb BBB hhh HHH iii III lll LLL qqq QQQ eee fff ddd eee fff ddd ggg FFF DDD GGG OOO";
    RadToDeg "rad2deg" 1 1 Identity::None, None, REALS;
    Radians "radians" 1 1 Identity::None, None, REALS;
    Reciprocal "reciprocal" 1 1 Identity::None, None, NUMBERS;
    Remainder "remainder" 2 1 Identity::None, None, "bbb BBB hhh HHH iii III lll LLL qqq QQQ eee fff ddd ggg mmm OOO";
    RightShift "right_shift" 2 1 Identity::None, None, INTEGERS;
    Rint "rint" 1 1 Identity::None, None, ROOTS;
    Sign "sign" 1 1 Identity::None, None, "bb BB hh HH ii II ll LL qq QQ ee ff dd gg FF DD GG mm OO";
    Signbit "signbit" 1 1 Identity::None, None, "e? f? d? g?";
    Sin "sin" 1 1 Identity::None, None, WAVES;
    Sinh "sinh" 1 1 Identity::None, None, ANALYTIC;
    Spacing "spacing" 1 1 Identity::None, None, "ee ff dd gg";
    Sqrt "sqrt" 1 1 Identity::None, None, ROOTS;
    Square "square" 1 1 Identity::None, None, NUMBERS;
    Subtract "subtract" 2 1 Identity::None, None,
        "bbb BBB hhh HHH iii III lll LLL qqq QQQ eee fff ddd ggg FFF DDD GGG MmM mmm MMm OOO";
    Tan "tan" 1 1 Identity::None, None, ANALYTIC;
    Tanh "tanh" 1 1 Identity::None, None, ANALYTIC;
    Trunc "trunc" 1 1 Identity::None, None, ROUNDED;
    Vecdot "vecdot" 2 1 Identity::None, Some("(n),(n)->()"), PRODUCTS;
    Vecmat "vecmat" 2 1 Identity::None, Some("(n),(n,m)->(m)"), PRODUCTS;
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
pub(crate) fn find(name: &str) -> Option<&'static Ufunc> {
    let own = |name: &str| TABLE.binary_search_by(|ufunc| ufunc.name.cmp(name)).ok().and_then(|at| TABLE.get(at));
    own(name).or_else(|| own(ALIASES.iter().find(|(alias, _)| *alias == name)?.1))
}

impl Ufunc {
    /// Returns NumPy's `ufunc.types`: `['bb->b', …]`.
    pub(crate) fn types(&self) -> Vec<String> {
        let arrow = |codes: &str| format!("{}->{}", &codes[..self.nin], &codes[self.nin..]);
        self.loops.split_whitespace().map(arrow).collect()
    }

    /// Returns the codes of each loop that can run, in order.
    pub(super) fn runnable(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.loops.split(' ').filter(|codes| !codes.is_empty() && !codes.contains(FOREIGN))
    }
}

impl Op {
    pub(crate) fn is_comparison(self) -> bool {
        use Op::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        matches!(self, Equal | Greater | GreaterEqual | Less | LessEqual | NotEqual)
    }

    pub(crate) fn is_logical(self) -> bool {
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

//! Python's classes of characters that differ from Rust's: whitespace, digits, letters and case. This file must not
//! know any value or function.

/// `str.isspace`, which includes the separators of ASCII.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\x1c'..='\x1f').contains(&c)
}

/// Returns whether `str.splitlines` splits at a character.
pub(crate) fn ends_line(c: char) -> bool {
    matches!(c, '\n'..='\r' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// The digits zero of Unicode 14. Each begins a run of ten digits.
const ZEROS: &[u32] = &[
    0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0,
    0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620,
    0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0,
    0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x16a60,
    0x16ac0, 0x16b50, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0,
];

/// Digits that are not used in numbers: superscript, subscript, circled.
const OTHER_DIGITS: &[(u32, u32)] = &[
    (0xb2, 0xb3),
    (0xb9, 0xb9),
    (0x1369, 0x1371),
    (0x19da, 0x19da),
    (0x2070, 0x2070),
    (0x2074, 0x2079),
    (0x2080, 0x2089),
    (0x2460, 0x2468),
    (0x2474, 0x247c),
    (0x2488, 0x2490),
    (0x24ea, 0x24ea),
    (0x24f5, 0x24fd),
    (0x24ff, 0x24ff),
    (0x2776, 0x277e),
    (0x2780, 0x2788),
    (0x278a, 0x2792),
    (0x10a40, 0x10a43),
    (0x10e60, 0x10e68),
    (0x11052, 0x1105a),
    (0x1f100, 0x1f10a),
];

/// Letters that are also numerals.
const NUMERALS: &str = "㐅㒃㠪㭍一七万三九二五亖亿什仟仨伍佰億兆兩八六十千卄卅卌叁参參叄四壱壹幺廾廿弌弍弎弐拾捌柒漆玖百肆萬貮貳贰阡陆陌陸零\u{f96b}\u{f973}\u{f978}\u{f9b2}\u{f9d1}\u{f9d3}\u{f9fd}𠀁𠁤𠃢𠄡𠤪𠦃𠦌𠦜𠫪𠫽𠬙𢎐𢦘𣬛𦉭\u{2f890}";

/// Returns the value of a decimal digit.
pub fn decimal(c: char) -> Option<u32> {
    let code = u32::from(c);
    let zero = ZEROS.get(ZEROS.partition_point(|zero| *zero <= code).checked_sub(1)?)?;
    Some(code - zero).filter(|digit| *digit < 10)
}

/// `str.isdigit`
pub fn is_digit(c: char) -> bool {
    let code = u32::from(c);
    decimal(c).is_some() || OTHER_DIGITS.iter().any(|(first, last)| (*first..=*last).contains(&code))
}

/// `str.isnumeric`
pub fn is_numeric(c: char) -> bool {
    c.is_numeric() || !c.is_ascii() && NUMERALS.contains(c)
}

/// `str.isalpha`, which excludes the numbers and symbols among Rust's letters.
pub fn is_letter(c: char) -> bool {
    c.is_alphabetic() && !c.is_numeric() && !('\u{24b6}'..='\u{24e9}').contains(&c)
}

pub(crate) fn is_cased(c: char) -> bool {
    c.is_lowercase() || c.is_uppercase() || is_title(c)
}

/// Returns whether a character is a titlecase letter, such as `ǅ`.
pub(crate) fn is_title(c: char) -> bool {
    matches!(c, 'ǅ' | 'ǈ' | 'ǋ' | 'ǲ' | '\u{1f88}'..='\u{1f8f}' | '\u{1f98}'..='\u{1f9f}' | '\u{1fa8}'..='\u{1faf}' | 'ᾼ' | 'ῌ' | 'ῼ')
}

/// Appends the titlecase form of a character.
pub(crate) fn push_title(out: &mut String, c: char) {
    match c {
        'Ǆ'..='ǆ' => out.push('ǅ'),
        'Ǉ'..='ǉ' => out.push('ǈ'),
        'Ǌ'..='ǌ' => out.push('ǋ'),
        'Ǳ'..='ǳ' => out.push('ǲ'),
        // If the uppercase form has several letters, only the first stays a capital.
        _ => out.extend(c.to_uppercase().enumerate().flat_map(|(at, c)| {
            let rest = if at > 0 { Some(c.to_lowercase()) } else { None };
            let first = if at == 0 { Some(c) } else { None };
            first.into_iter().chain(rest.into_iter().flatten())
        })),
    }
}

/// Appends the case-folded form of a character.
pub(crate) fn push_folded(out: &mut String, c: char) {
    match c {
        'ı' => out.push(c),
        _ => out.extend(c.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase)),
    }
}

/// Returns whether a character may stand at position `at` of an identifier.
pub(crate) fn is_of_name(c: char, at: usize) -> bool {
    c == '_'
        || is_letter(c)
        || c.is_alphabetic() && c.is_numeric()
        || at > 0 && (c.is_alphabetic() || decimal(c).is_some())
}

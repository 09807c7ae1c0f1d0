"""Other names of encodings."""

aliases = {
    "646": "ascii", "ansi_x3.4_1968": "ascii", "us_ascii": "ascii", "latin": "latin_1", "latin1": "latin_1",
    "iso8859_1": "latin_1", "iso_8859_1": "latin_1", "l1": "latin_1", "u8": "utf_8", "utf": "utf_8", "utf8": "utf_8",
    "utf_8": "utf_8", "u16": "utf_16", "utf16": "utf_16", "u32": "utf_32", "utf32": "utf_32",
}

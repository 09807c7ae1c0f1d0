"""The names of encodings; `codecs` has what they do."""


def normalize_encoding(encoding):
    return "".join(c if c.isalnum() or c == "." else "_" for c in encoding)

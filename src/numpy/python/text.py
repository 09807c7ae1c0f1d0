"""Text of single numbers in any format, and of arrays whose elements a formatter of `np.set_printoptions` writes."""

import math

import numpy as np


# Digits of single numbers


def _shortest(x):
    """Returns (digits, exponent of the first digit) of the shortest text that identifies a number in its dtype."""
    text = str(abs(x)) if isinstance(x, np.floating) else repr(abs(float(x)))
    mantissa, _, exponent = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    zeros = len(whole + fraction) - len(digits)
    return digits.rstrip("0") or "0", (int(exponent) if exponent else 0) + len(whole) - 1 - (zeros if digits else 0)


def _rounded(x, digits):
    """Returns (digits, exponent of the first digit) of a number, rounded to a count of significant digits."""
    mantissa, _, exponent = ("%.*e" % (max(digits - 1, 0), abs(float(x)))).partition("e")
    return mantissa.replace(".", ""), int(exponent)


def _trimmed(fraction, trim):
    """Returns the point and the digits after it, trimmed."""
    if trim not in ("k", ".", "0", "-"):
        raise TypeError("trim option must be one of 'k', '.', '0' or '-'")
    if trim != "k":
        fraction = fraction.rstrip("0")
    if trim == "0" and not fraction:
        fraction = "0"
    return "" if trim == "-" and not fraction else "." + fraction


def _signed(x, sign):
    return "-" if math.copysign(1.0, x) < 0 and not math.isnan(x) else "+" if sign else ""


def _checked(x, precision, unique, min_digits):
    if min_digits is not None and min_digits > 0 and precision is not None and precision > 0 and min_digits > precision:
        raise ValueError("min_digits must be less than or equal to precision")
    if not unique and precision is None:
        raise TypeError("in non-unique mode `precision` must be supplied")
    return x if isinstance(x, np.floating) else float(x)


def format_float_positional(
    x, precision=None, unique=True, fractional=True, trim="k", sign=False, pad_left=None, pad_right=None, min_digits=None
):
    """Returns a number without an exponent."""
    x = _checked(x, precision, unique, min_digits)
    front = _signed(x, sign)
    if not math.isfinite(x):
        return (front + ("nan" if math.isnan(x) else "inf")).rjust((pad_left or 0) + (pad_right or 0) + 1 if pad_left else 0)
    digits, first = _shortest(x)
    if unique:
        after = len(digits) - 1 - first
        most = None if precision is None else precision if fractional else precision - 1 - first
        if most is not None and after > most:
            if most >= 0:
                digits, first = _split_fixed("%.*f" % (most, abs(float(x))))
            else:
                digits, first = _rounded(x, precision)
        whole, fraction = _placed(digits, first)
        fraction = fraction.rstrip("0")
        if min_digits:
            fraction = fraction.ljust(min_digits if fractional else min_digits - len(whole), "0")
    elif fractional:
        whole, _, fraction = ("%.*f" % (precision, abs(float(x)))).partition(".")
    else:
        whole, fraction = _placed(*_rounded(x, precision))
    back = _trimmed(fraction, trim)
    text = (front + whole).rjust(pad_left or 0) + back
    if pad_right:
        text += " " * (pad_right + 1 - len(back))
    return text


def _split_fixed(text):
    """Returns (digits, exponent of the first digit) of a text without an exponent."""
    whole, _, fraction = text.partition(".")
    return whole + fraction, len(whole) - 1


def _placed(digits, first):
    """Returns the digits before the point and those after it."""
    if first < 0:
        return "0", "0" * (-1 - first) + digits
    digits = digits.ljust(first + 1, "0")
    return digits[: first + 1], digits[first + 1 :]


def format_float_scientific(
    x, precision=None, unique=True, trim="k", sign=False, pad_left=None, exp_digits=None, min_digits=None
):
    """Returns a number with an exponent."""
    x = _checked(x, precision, unique, min_digits)
    front = _signed(x, sign)
    if not math.isfinite(x):
        return front + ("nan" if math.isnan(x) else "inf")
    digits, first = _shortest(x)
    if not unique:
        digits, first = _rounded(x, precision + 1)
    elif precision is not None and len(digits) > precision + 1:
        digits, first = _rounded(x, precision + 1)
        digits = digits[0] + digits[1:].rstrip("0")
    if min_digits:
        digits = digits.ljust(min_digits + 1, "0")
    exponent = str(abs(first)).rjust(2 if exp_digits is None else exp_digits, "0")
    back = _trimmed(digits[1:], trim)
    return (front + digits[0]).rjust(pad_left or 0) + back + "e" + ("-" if first < 0 else "+") + exponent


# Arrays whose elements a function writes


def _shown(size, edges):
    """Returns the indices at the beginning and those at the end; None at the end if there is no gap."""
    if edges is None or 2 * edges >= size:
        return range(size), None
    return range(edges), range(size - max(edges, 1), size)


def _lines(a, function, edges, indent, width, separator):
    """Returns the text of an array between brackets, whose lines begin after `indent` spaces."""
    if a.ndim == 0:
        return str(function(a[()]))
    head, tail = _shown(a.shape[0], edges)
    if a.ndim > 1:
        parts = [_lines(a[place], function, edges, indent + 1, width - 1, separator) for place in head]
        if tail is not None:
            parts.append("...")
            parts += [_lines(a[place], function, edges, indent + 1, width - 1, separator) for place in tail]
        return "[" + (separator.rstrip() + "\n" * (a.ndim - 1) + " " * indent).join(parts) + "]"
    width -= max(len(separator.rstrip()), 1)
    words = [str(function(a[place])) for place in head]
    if tail is not None:
        words += ["..."] + [str(function(a[place])) for place in tail]
    lines, line = [], " " * indent
    for number, word in enumerate(words):
        if len(line) + len(word) > width and len(line) > indent:
            lines.append(line.rstrip())
            line = " " * indent
        line += word + (separator if number < len(words) - 1 else "")
    return "[" + "\n".join(lines + [line])[indent:] + "]"


def _formatted(a, function, separator, before, behind, threshold, edgeitems, linewidth):
    """Returns the text of an array beside texts of some lengths."""
    if a.size == 0:
        return "[]"
    edges = edgeitems if a.size > threshold else None
    return _lines(a, function, edges, before + 1, linewidth - behind, separator)


def _formatted_repr(a, function, dtype, head, threshold, edgeitems, linewidth):
    """Returns what the prompt shows for an array, from `head` on; `dtype` is empty if it is not shown."""
    text = head + _formatted(a, function, ", ", len(head), 1, threshold, edgeitems, linewidth)
    notes = []
    if a.size == 0 and a.shape != (0,) or a.size > threshold:
        notes.append(f"shape={a.shape}")
    if dtype:
        notes.append(f"dtype={dtype}")
    if notes:
        note = ", ".join(notes)
        last = text.split("\n")[-1]
        fits = len(last) + len(note) + 3 <= linewidth
        text += "," + (" " if fits else "\n" + " " * len(head)) + note
    return text + ")"

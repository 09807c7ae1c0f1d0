"""Reads moments from texts, as `strftime` writes them."""

import re
import time
from datetime import date, timedelta, timezone

_PARTS = {
    "d": r"(?P<d>3[0-1]|[1-2]\d|0[1-9]|[1-9]| [1-9])",
    "f": r"(?P<f>[0-9]{1,6})",
    "H": r"(?P<H>2[0-3]|[0-1]\d|\d)",
    "I": r"(?P<I>1[0-2]|0[1-9]|[1-9])",
    "j": r"(?P<j>36[0-6]|3[0-5]\d|[1-2]\d\d|0[1-9]\d|00[1-9]|[1-9]\d|0[1-9]|[1-9])",
    "m": r"(?P<m>1[0-2]|0[1-9]|[1-9])",
    "M": r"(?P<M>[0-5]\d|\d)",
    "S": r"(?P<S>6[0-1]|[0-5]\d|\d)",
    "y": r"(?P<y>\d\d)",
    "Y": r"(?P<Y>\d\d\d\d)",
    "w": r"(?P<w>[0-6])",
    "u": r"(?P<u>[1-7])",
    "z": r"(?P<z>[+-]\d\d:?[0-5]\d(:?[0-5]\d(\.\d{1,6})?)?|(?-i:Z))",
    "Z": r"(?P<Z>utc|gmt)",
    "p": r"(?P<p>am|pm)",
    "A": "(?P<A>" + "|".join(day.lower() for day in time._DAYS) + ")",
    "a": "(?P<a>" + "|".join(day[:3].lower() for day in time._DAYS) + ")",
    "B": "(?P<B>" + "|".join(month.lower() for month in time._MONTHS) + ")",
    "b": "(?P<b>" + "|".join(month[:3].lower() for month in time._MONTHS) + ")",
    "%": "%",
}
_WHOLE = {"c": "%a %b %d %H:%M:%S %Y", "x": "%m/%d/%y", "X": "%H:%M:%S", "D": "%m/%d/%y", "T": "%H:%M:%S", "R": "%H:%M", "F": "%Y-%m-%d"}


def _strptime(data_string, format):
    """Returns the fields of a calendar, the fraction in microseconds, and the offset from UTC in seconds."""
    for name, argument in (("data_string", data_string), ("format", format)):
        if not isinstance(argument, str):
            at = 0 if name == "data_string" else 1
            raise TypeError(f"strptime() argument {at} must be str, not {type(argument)!r}")
    given = format
    for code, whole in _WHOLE.items():
        format = format.replace("%" + code, whole)
    format = re.sub(r"([\\.^$*+?\(\){}\[\]|])", r"\\\1", format)
    format = re.sub(r"\s+", r"\\s+", format)
    pattern, at = "", 0
    while at < len(format):
        if format[at] != "%":
            pattern += format[at]
            at += 1
            continue
        code = format[at + 1 : at + 2]
        if not code:
            raise ValueError(f"stray % in format '{given}'")
        if code not in _PARTS:
            raise ValueError(f"'{code}' is a bad directive in format '{given}'")
        pattern += _PARTS[code]
        at += 2
    found = re.compile(pattern, re.IGNORECASE).match(data_string)
    if not found:
        raise ValueError(f"time data {data_string!r} does not match format {given!r}")
    if len(data_string) != found.end():
        raise ValueError(f"unconverted data remains: {data_string[found.end():]}")
    known = {name: text for name, text in found.groupdict().items() if text is not None}
    year, month, day = None, 1, 1
    if "Y" in known:
        year = int(known["Y"])
    elif "y" in known:
        year = int(known["y"])
        year += 2000 if year <= 68 else 1900
    if "m" in known:
        month = int(known["m"])
    elif "B" in known:
        month = [name.lower() for name in time._MONTHS].index(known["B"].lower()) + 1
    elif "b" in known:
        month = [name[:3].lower() for name in time._MONTHS].index(known["b"].lower()) + 1
    if "d" in known:
        day = int(known["d"])
    hour = int(known.get("H", 0))
    if "I" in known:
        hour = int(known["I"]) % 12 + (12 if known.get("p", "").lower() == "pm" else 0)
    fraction = int(known.get("f", "0").ljust(6, "0"))
    offset, zone = None, None
    if "z" in known:
        z = known["z"]
        if z == "Z":
            offset = 0
        else:
            digits = z[1:].replace(":", "")
            offset = int(digits[:2]) * 3600 + int(digits[2:4]) * 60 + int(digits[4:6] or 0)
            offset = -offset if z[0] == "-" else offset
    if "Z" in known:
        zone = known["Z"].upper()
    leap_day_without_year = year is None and month == 2 and day == 29
    year = 1904 if leap_day_without_year else 1900 if year is None else year
    if "j" in known and "m" not in known and "d" not in known:
        moved = date(year, 1, 1) + timedelta(int(known["j"]) - 1)
        year, month, day = moved.year, moved.month, moved.day
    of = date(year, month, day)
    year = 1900 if leap_day_without_year else year
    fields = (
        year, month, day, hour, int(known.get("M", 0)), int(known.get("S", 0)), of.weekday(),
        of.toordinal() - date(of.year, 1, 1).toordinal() + 1, -1, zone, offset,
    )
    return fields, fraction, 0


def _strptime_time(data_string, format="%a %b %d %H:%M:%S %Y"):
    return time.struct_time(_strptime(data_string, format)[0][:9])


def _strptime_datetime(cls, data_string, format="%a %b %d %H:%M:%S %Y"):
    fields, fraction, offset_fraction = _strptime(data_string, format)
    zone, offset = fields[-2:]
    args = fields[:6] + (fraction,)
    if offset is not None:
        delta = timedelta(seconds=offset, microseconds=offset_fraction)
        args += (timezone(delta, zone) if zone else timezone(delta),)
    return cls(*args)

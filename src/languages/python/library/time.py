"""Clocks and calendars. The local time is that of the zone UTC."""

from time import perf_counter, time

monotonic = process_time = thread_time = perf_counter
timezone = altzone = daylight = 0
tzname = ("UTC", "UTC")
CLOCK_REALTIME, CLOCK_MONOTONIC = 0, 1


def time_ns():
    return int(time() * 1_000_000_000)


def perf_counter_ns():
    return int(perf_counter() * 1_000_000_000)


monotonic_ns = process_time_ns = thread_time_ns = perf_counter_ns


def clock_gettime(clock):
    return time() if clock == CLOCK_REALTIME else perf_counter()


def tzset():
    pass


class struct_time(tuple):
    """A moment in the fields of a calendar."""

    n_fields, n_sequence_fields, n_unnamed_fields = 11, 9, 0
    _names = ("tm_year", "tm_mon", "tm_mday", "tm_hour", "tm_min", "tm_sec", "tm_wday", "tm_yday", "tm_isdst")

    def __new__(cls, fields):
        fields = tuple(fields)
        if len(fields) < 9:
            raise TypeError(f"time.struct_time() takes an at least 9-sequence ({len(fields)}-sequence given)")
        return super().__new__(cls, fields[:9])

    tm_zone = property(lambda self: "UTC")
    tm_gmtoff = property(lambda self: 0)

    def __repr__(self):
        return f"time.struct_time({', '.join(f'{name}={value!r}' for name, value in zip(self._names, self))})"


for _at, _name in enumerate(struct_time._names):
    setattr(struct_time, _name, property(lambda self, at=_at: self[at]))
del _at, _name


def _days_before(year, month):
    """Returns the days from 1970 to the first of a month."""
    year -= month <= 2
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


def gmtime(seconds=None):
    seconds = time() if seconds is None else seconds
    days, rest = divmod(int(seconds // 1), 86400)
    shifted = days + 719468
    era, of_era = divmod(shifted, 146097)
    of = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    year = of + era * 400
    of_year = of_era - (365 * of + of // 4 - of // 100)
    part = (5 * of_year + 2) // 153
    day = of_year - (153 * part + 2) // 5 + 1
    month = part + (3 if part < 10 else -9)
    year += month <= 2
    hour, rest = divmod(rest, 3600)
    return struct_time(
        (year, month, day, hour, rest // 60, rest % 60, (days + 3) % 7, days - _days_before(year, 1) + 1, 0)
    )


localtime = gmtime


def mktime(fields):
    year, month, day, hour, minute, second = tuple(fields)[:6]
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return float((_days_before(year, month) + day - 1) * 86400 + hour * 3600 + minute * 60 + second)


_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_MONTHS = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
]


def strftime(format, t=None):
    t = tuple(localtime() if t is None else t)
    year, month, day, hour, minute, second, weekday, yearday = t[:8]
    sunday = (weekday + 1) % 7
    # The week of ISO 8601 is that of its Thursday.
    thursday = yearday - weekday + 3
    length = _days_before(year + 1, 1) - _days_before(year, 1)
    before = _days_before(year, 1) - _days_before(year - 1, 1)
    iso_year, iso_week = year, (thursday - 1) // 7 + 1
    if thursday < 1:
        iso_year, iso_week = year - 1, (thursday + before - 1) // 7 + 1
    elif thursday > length:
        iso_year, iso_week = year + 1, 1
    made, at = "", 0
    while at < len(format):
        c = format[at]
        at += 1
        if c != "%" or at == len(format):
            made += c
            continue
        code = format[at]
        at += 1
        if code == "-" and at < len(format):
            code += format[at]
            at += 1
        fields = {
            "a": lambda: _DAYS[weekday][:3], "A": lambda: _DAYS[weekday],
            "b": lambda: _MONTHS[month - 1][:3], "B": lambda: _MONTHS[month - 1], "h": lambda: _MONTHS[month - 1][:3],
            "c": lambda: strftime("%a %b %e %H:%M:%S %Y", t), "d": lambda: f"{day:02}", "e": lambda: f"{day:2}",
            "D": lambda: strftime("%m/%d/%y", t), "F": lambda: strftime("%Y-%m-%d", t), "H": lambda: f"{hour:02}",
            "I": lambda: f"{(hour - 1) % 12 + 1:02}", "j": lambda: f"{yearday:03}", "m": lambda: f"{month:02}",
            "M": lambda: f"{minute:02}", "n": lambda: "\n", "p": lambda: "AM" if hour < 12 else "PM",
            "R": lambda: strftime("%H:%M", t), "S": lambda: f"{second:02}", "t": lambda: "\t",
            "T": lambda: strftime("%H:%M:%S", t), "u": lambda: str(weekday + 1), "w": lambda: str(sunday),
            "U": lambda: f"{(yearday + 6 - sunday) // 7:02}", "W": lambda: f"{(yearday + 6 - weekday) // 7:02}",
            "V": lambda: f"{iso_week:02}", "G": lambda: str(iso_year), "g": lambda: f"{iso_year % 100:02}",
            "x": lambda: strftime("%m/%d/%y", t), "X": lambda: strftime("%H:%M:%S", t), "y": lambda: f"{year % 100:02}",
            "Y": lambda: str(year), "C": lambda: f"{year // 100:02}", "z": lambda: "+0000", "Z": lambda: "UTC",
            "s": lambda: str(int(mktime(t))), "%": lambda: "%", "-d": lambda: str(day), "-m": lambda: str(month),
            "-H": lambda: str(hour), "-I": lambda: str((hour - 1) % 12 + 1), "-M": lambda: str(minute),
            "-S": lambda: str(second), "-j": lambda: str(yearday),
        }
        made += fields[code]() if code in fields else "%" + code
    return made


def asctime(t=None):
    return strftime("%a %b %e %H:%M:%S %Y", t)


def ctime(seconds=None):
    return asctime(localtime(seconds))


def strptime(data_string, format="%a %b %d %H:%M:%S %Y"):
    import _strptime

    return _strptime._strptime_time(data_string, format)



def _check_date_fields(year, month, day):
    year, month, day = _index(year), _index(month), _index(day)
    if not MINYEAR <= year <= MAXYEAR:
        raise ValueError(f"year {year} is out of range")
    if not 1 <= month <= 12:
        raise ValueError("month must be in 1..12")
    if not 1 <= day <= _days_in_month(year, month):
        raise ValueError("day is out of range for month")
    return year, month, day


def _check_time_fields(hour, minute, second, microsecond, fold):
    fields = [_index(field) for field in (hour, minute, second, microsecond)]
    names = (("hour", 23), ("minute", 59), ("second", 59), ("microsecond", 999999))
    for field, (name, most) in zip(fields, names):
        if not 0 <= field <= most:
            raise ValueError(f"{name} must be in 0..{most}")
    if fold not in (0, 1):
        raise ValueError("fold must be either 0 or 1")
    return (*fields, fold)


def _cmperror(x, y):
    def named(value):
        name = type(value).__name__
        return f"datetime.{name}" if isinstance(value, (date, time, timedelta, tzinfo)) else name

    raise TypeError(f"can't compare {named(x)} to {named(y)}")


_subtracted = datetime.__sub__


def _subtract(self, other):
    if isinstance(other, datetime) and (self.utcoffset() is None) != (other.utcoffset() is None):
        raise TypeError("can't subtract offset-naive and offset-aware datetimes")
    return _subtracted(self, other)


datetime.__sub__ = _subtract
_IsoCalendarDate.__repr__ = lambda self: (
    f"datetime.IsoCalendarDate(year={self[0]}, week={self[1]}, weekday={self[2]})"
)



def _raised_by(self, condition, explanation=None, *args):
    """Handles a condition like the C of CPython: the exception carries the conditions."""
    error = _condition_map.get(condition, condition)
    if error in self._ignored_flags:
        return error().handle(self, *args)
    self.flags[error] = 1
    if not self.traps[error]:
        return condition().handle(self, *args)
    raise error([condition])


Context._raise_error = _raised_by
for _class in list(globals().values()):
    if isinstance(_class, type) and _class.__module__ == __name__:
        _class.__module__ = "decimal"
del _class

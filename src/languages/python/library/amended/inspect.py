

def _signature_fromstr(cls, obj, s, skip_bound_arg=True):
    """Reads a signature from the text that a function in C has."""
    names = {}
    exec(f"def function{s.replace('$', '')}: pass", {}, names)
    return _signature_from_function(cls, names["function"])


def _static_getmro(klass):
    if not isinstance(klass, type):
        raise TypeError(f"{klass!r} is no class")
    return klass.__mro__


def _shadowed_dict(klass):
    return _sentinel


_bound_defaults = BoundArguments.apply_defaults


def _bound_arguments(self, signature, arguments):
    self.arguments = dict(arguments)
    self._signature = signature


def _apply_defaults(self):
    _bound_defaults(self)
    self.arguments = dict(self.arguments)


BoundArguments.__init__ = _bound_arguments
BoundArguments.apply_defaults = _apply_defaults

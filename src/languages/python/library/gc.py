"""The collector of CPython. Objects here are freed when the last reference to them goes; cycles stay."""

DEBUG_STATS, DEBUG_COLLECTABLE, DEBUG_UNCOLLECTABLE, DEBUG_SAVEALL, DEBUG_LEAK = 1, 2, 4, 32, 38
callbacks = []
garbage = []
_enabled = True
_threshold = (700, 10, 10)


def enable():
    global _enabled
    _enabled = True


def disable():
    global _enabled
    _enabled = False


def isenabled():
    return _enabled


def collect(generation=2):
    return 0


def freeze():
    pass


unfreeze = freeze


def get_threshold():
    return _threshold


def set_threshold(*threshold):
    global _threshold
    _threshold = threshold + _threshold[len(threshold) :]


def get_count():
    return (0, 0, 0)


def get_debug():
    return 0


def set_debug(flags):
    pass


def is_tracked(ob):
    return not isinstance(ob, (int, float, complex, str, bytes, bool, type(None)))


def get_objects(generation=None):
    raise NotImplementedError("gc.get_objects is not supported at this prompt")


get_referrers = get_referents = get_objects

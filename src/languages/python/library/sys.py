"""What `sys` has besides its functions: descriptions of this interpreter."""

from sys import byteorder, hexversion, maxsize, platform, version_info


class SimpleNamespace:
    """An object with the attributes that it was made with."""

    def __init__(self, /, **kwargs):
        self.__dict__.update(kwargs)

    def __repr__(self):
        name = "namespace" if type(self) is SimpleNamespace else type(self).__name__
        return f"{name}({', '.join(f'{key}={value!r}' for key, value in self.__dict__.items())})"

    def __eq__(self, other):
        if not isinstance(other, SimpleNamespace):
            return NotImplemented
        return self.__dict__ == other.__dict__

    def __reduce__(self):
        return type(self), (), self.__dict__


SimpleNamespace.__module__ = "types"


class _Fields(tuple):
    """A tuple whose items have names."""

    def __new__(cls, name, fields):
        self = super().__new__(cls, fields.values())
        self._name, self._fields = name, fields
        return self

    def __getattr__(self, name):
        try:
            return self.__dict__["_fields"][name]
        except KeyError:
            raise AttributeError(f"'{self._name}' object has no attribute '{name}'") from None

    def __repr__(self):
        return f"{self._name}({', '.join(f'{key}={value!r}' for key, value in self._fields.items())})"


implementation = SimpleNamespace(name="cpython", cache_tag="cpython-311", version=version_info, hexversion=hexversion)
builtin_module_names = (
    "_abc", "_collections", "_sre", "_string", "_struct", "_thread", "_weakref", "builtins", "errno", "gc", "itertools",
    "math", "nt" if platform == "win32" else "posix", "sys", "time",
)
stdlib_module_names = frozenset()
warnoptions = []
_xoptions = {}
dont_write_bytecode = True
pycache_prefix = None
executable = ""
prefix = exec_prefix = base_prefix = base_exec_prefix = ""
copyright = ""
api_version = 1013
float_repr_style = "short"
meta_path = []
path_hooks = []
path_importer_cache = {}
ps1, ps2 = ">>> ", "... "
flags = _Fields(
    "sys.flags",
    dict.fromkeys(
        "debug inspect interactive optimize dont_write_bytecode no_user_site no_site ignore_environment verbose "
        "bytes_warning quiet hash_randomization isolated dev_mode utf8_mode warn_default_encoding safe_path "
        "int_max_str_digits".split(),
        0,
    ),
)
float_info = _Fields(
    "sys.float_info",
    dict(
        max=1.7976931348623157e308, max_exp=1024, max_10_exp=308, min=2.2250738585072014e-308, min_exp=-1021,
        min_10_exp=-307, dig=15, mant_dig=53, epsilon=2.220446049250313e-16, radix=2, rounds=1,
    ),
)
int_info = _Fields(
    "sys.int_info",
    dict(bits_per_digit=30, sizeof_digit=4, default_max_str_digits=4300, str_digits_check_threshold=640),
)
hash_info = _Fields(
    "sys.hash_info",
    dict(
        width=64, modulus=2305843009213693951, inf=314159, nan=0, imag=1000003, algorithm="siphash13", hash_bits=64,
        seed_bits=128, cutoff=0,
    ),
)
thread_info = _Fields("sys.thread_info", dict(name="pthread", lock="semaphore", version=""))


def getdefaultencoding():
    return "utf-8"


getfilesystemencoding = getdefaultencoding


def getfilesystemencodeerrors():
    return "surrogateescape"


def getrecursionlimit():
    return 1000


def intern(string):
    return string


def audit(event, *args):
    pass


def is_finalizing():
    return False


def exception():
    return sys.exc_info()[1]


def excepthook(type, value, traceback):
    print(f"{type.__name__}: {value}", file=sys.stderr)


__excepthook__ = excepthook


def unraisablehook(unraisable):
    print(f"Exception ignored in: {unraisable.object!r}", file=sys.stderr)


def displayhook(value):
    if value is not None:
        print(repr(value))


__displayhook__ = displayhook


def call_tracing(function, args):
    return function(*args)


def gettrace():
    return None


def settrace(function):
    if function is not None:
        raise NotImplementedError("sys.settrace is not supported at this prompt")


getprofile, setprofile = gettrace, settrace


def _clear_type_cache():
    pass


def getswitchinterval():
    return 0.005


import sys

__stdout__ = sys.stdout
__stderr__ = sys.stderr

"""The calls of the system that `os` and the modules above it make. No process is started here."""

import _posix
import sys

error = OSError
environ = {name.encode(): value.encode() for name, value in _posix.environment().items()}
_have_functions = ["HAVE_LSTAT"]

F_OK, X_OK, W_OK, R_OK = 0, 1, 2, 4
O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_CLOEXEC, O_NOFOLLOW = (
    0, 1, 2, 64, 128, 512, 1024, 524288, 131072,
)
EX_OK = 0


class stat_result(tuple):
    """What the system says of a file."""

    def __new__(cls, fields, times=()):
        self = super().__new__(cls, fields)
        self._times = tuple(times)
        return self

    n_fields = 19
    n_sequence_fields = 10

    def __repr__(self):
        names = "st_mode st_ino st_dev st_nlink st_uid st_gid st_size st_atime st_mtime st_ctime".split()
        return f"os.stat_result({', '.join(f'{name}={value!r}' for name, value in zip(names, self))})"


stat_result.__module__ = "os"
for _at, _name in enumerate("st_mode st_ino st_dev st_nlink st_uid st_gid st_size".split()):
    setattr(stat_result, _name, property(lambda self, at=_at: self[at]))
for _at, _name in enumerate("st_atime st_mtime st_ctime".split()):
    setattr(stat_result, _name, property(lambda self, at=_at: self._times[at] / 1e9))
    setattr(stat_result, _name + "_ns", property(lambda self, at=_at: self._times[at]))
stat_result.st_blksize = property(lambda self: 4096)
stat_result.st_blocks = property(lambda self: -(-self[6] // 512))


class terminal_size(tuple):
    columns = property(lambda self: self[0])
    lines = property(lambda self: self[1])

    def __repr__(self):
        return f"os.terminal_size(columns={self[0]}, lines={self[1]})"


terminal_size.__module__ = "os"


def fspath(path):
    if isinstance(path, (str, bytes)):
        return path
    kind = type(path)
    if not hasattr(kind, "__fspath__"):
        raise TypeError(f"expected str, bytes or os.PathLike object, not {kind.__name__}")
    made = kind.__fspath__(path)
    if isinstance(made, (str, bytes)):
        return made
    raise TypeError(f"expected {kind.__name__}.__fspath__() to return str or bytes, not {type(made).__name__}")


def _text(path, function, argument="path"):
    try:
        path = fspath(path)
    except TypeError:
        kind = type(path).__name__
        raise TypeError(f"{function}: {argument} should be string, bytes or os.PathLike, not {kind}") from None
    path = path.decode() if isinstance(path, bytes) else path
    if "\0" in path:
        raise ValueError("embedded null byte")
    return path


def _done(result, *paths):
    if isinstance(result, list):
        paths = [path if isinstance(path, int) or path is None else fspath(path) for path in paths]
        if len(paths) == 2:
            raise OSError(*result, paths[0], None, paths[1])
        raise OSError(*result, *paths)
    return result


def stat(path, *, dir_fd=None, follow_symlinks=True):
    if isinstance(path, int):
        return fstat(path)
    known = _done(_posix.status(_text(path, "stat"), not follow_symlinks), path)
    times = known[7:]
    return stat_result((*known[:7], *(time // 1_000_000_000 for time in times)), times)


def lstat(path, *, dir_fd=None):
    return stat(path, follow_symlinks=False)


def listdir(path="."):
    names = _done(_posix.names(_text("." if path is None else path, "listdir")), path)
    return [name.encode() for name in names] if isinstance(path, bytes) else list(names)


_separators = ("\\", "/", ":") if sys.platform == "win32" else ("/",)


class DirEntry:
    """A name in a folder."""

    def __init__(self, folder, name):
        self.name = name
        self.path = name if folder is None else folder + ("" if folder.endswith(_separators) else _separators[0]) + name

    def _mode(self, follow_symlinks):
        try:
            return stat(self.path, follow_symlinks=follow_symlinks).st_mode & 0o170000
        except FileNotFoundError:
            return 0

    def is_dir(self, *, follow_symlinks=True):
        return self._mode(follow_symlinks) == 0o040000

    def is_file(self, *, follow_symlinks=True):
        return self._mode(follow_symlinks) == 0o100000

    def is_symlink(self):
        return self._mode(False) == 0o120000

    def is_junction(self):
        return False

    def stat(self, *, follow_symlinks=True):
        return stat(self.path, follow_symlinks=follow_symlinks)

    def inode(self):
        return lstat(self.path).st_ino

    def __fspath__(self):
        return self.path

    def __repr__(self):
        return f"<DirEntry {self.name!r}>"


class _Entries:
    def __init__(self, folder):
        names = listdir("." if folder is None else folder)
        self._entries = iter([DirEntry("." if folder is None else fspath(folder), name) for name in names])

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._entries)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self):
        self._entries = iter(())


def scandir(path=None):
    return _Entries(path)


def mkdir(path, mode=0o777, *, dir_fd=None):
    _done(_posix.mkdir(_text(path, "mkdir"), mode), path)


def rmdir(path, *, dir_fd=None):
    _done(_posix.rmdir(_text(path, "rmdir")), path)


def unlink(path, *, dir_fd=None):
    _done(_posix.unlink(_text(path, "unlink")), path)


def remove(path, *, dir_fd=None):
    _done(_posix.unlink(_text(path, "remove")), path)


def rename(src, dst, *, src_dir_fd=None, dst_dir_fd=None):
    _done(_posix.rename(_text(src, "rename", "src"), _text(dst, "rename", "dst")), src, dst)


def replace(src, dst, *, src_dir_fd=None, dst_dir_fd=None):
    _done(_posix.rename(_text(src, "replace", "src"), _text(dst, "replace", "dst")), src, dst)


def readlink(path, *, dir_fd=None):
    return _done(_posix.readlink(_text(path, "readlink")), path)


def symlink(src, dst, target_is_directory=False, *, dir_fd=None):
    _done(_posix.symlink(_text(src, "symlink", "src"), _text(dst, "symlink", "dst")), src, dst)


def chmod(path, mode, *, dir_fd=None, follow_symlinks=True):
    _done(_posix.chmod(_text(path, "chmod"), mode), path)


def chdir(path):
    _done(_posix.chdir(_text(path, "chdir")), path)


def getcwd():
    return _posix.getcwd()


def getcwdb():
    return getcwd().encode()


def access(path, mode, *, dir_fd=None, effective_ids=False, follow_symlinks=True):
    try:
        known = stat(path, follow_symlinks=follow_symlinks)
    except OSError:
        return False
    return not mode & X_OK or bool(known.st_mode & 0o111)


def utime(path, times=None, *, ns=None, dir_fd=None, follow_symlinks=True):
    if times is not None and ns is not None:
        raise ValueError("utime: you may specify either 'times' or 'ns' but not both")
    if ns is None:
        import time

        now = time.time()
        ns = [int(moment * 1_000_000_000) for moment in times or (now, now)]
    _done(_posix.utime(_text(path, "utime"), *ns), path)


def getpid():
    return _posix.getpid()


def getuid():
    return stat("/").st_uid


geteuid = getuid
_environ = environ


def putenv(name, value):
    pass


def unsetenv(name):
    pass


def cpu_count():
    return 1


def urandom(size):
    return b"".join(_posix.entropy().to_bytes(8, "little")[:7] for _ in range(-(-size // 7)))[:size]


def umask(mask):
    return 0o022


def strerror(code):
    import errno

    return errno._texts.get(code, f"Unknown error {code}")


def get_terminal_size(fd=1):
    raise OSError(25, "Inappropriate ioctl for device")


def isatty(fd):
    return False


_open = {}


def open(path, flags, mode=0o777, *, dir_fd=None):
    """Opens a file by a number, which `io.open` takes."""
    import builtins

    path = _text(path, "open")
    letters = "rb" if flags & 3 == O_RDONLY else "rb+"
    if flags & O_CREAT:
        exists = True
        try:
            stat(path)
        except FileNotFoundError:
            exists = False
        if exists and flags & O_EXCL:
            raise FileExistsError(17, "File exists", path)
        if not exists:
            builtins.open(path, "xb").close()
            if mode != 0o777:
                try:
                    chmod(path, mode)
                except OSError:
                    pass
    if flags & O_TRUNC:
        builtins.open(path, "wb").close()
    number = 3
    while number in _open:
        number += 1
    _open[number] = builtins.open(path, "ab" if flags & O_APPEND else letters)
    return number


def _file(fd):
    try:
        return _open[fd]
    except KeyError:
        raise OSError(9, "Bad file descriptor") from None


def close(fd):
    _file(fd).close()
    del _open[fd]


def read(fd, n):
    return _file(fd).read(n)


def write(fd, data):
    if fd in (1, 2):
        (sys.stdout if fd == 1 else sys.stderr).write(bytes(data).decode())
        return len(data)
    count = _file(fd).write(data)
    _file(fd).flush()
    return count


def lseek(fd, position, how):
    return _file(fd).seek(position, how)


def fsync(fd):
    _file(fd).flush()


def fstat(fd):
    return stat(_file(fd).name)


def get_inheritable(fd):
    return False


def set_inheritable(fd, inheritable):
    pass


def _refused(name):
    def function(*args, **kwargs):
        raise NotImplementedError(f"os.{name} starts or ends a process, which is not supported at this prompt")

    function.__name__ = name
    return function


for _name in "fork forkpty execv execve kill killpg system abort wait waitpid pipe posix_spawn nice".split():
    globals()[_name] = _refused(_name)


def register_at_fork(*, before=None, after_in_child=None, after_in_parent=None):
    pass


def _exit(status):
    raise SystemExit(status)


class uname_result(tuple):
    sysname = property(lambda self: self[0])
    nodename = property(lambda self: self[1])
    release = property(lambda self: self[2])
    version = property(lambda self: self[3])
    machine = property(lambda self: self[4])


def uname():
    return uname_result((sys.platform.capitalize(), "", "", "", "x86_64"))


# Like functions in C, they do not become methods in a class.
_function = type(stat)
for _name, _value in list(globals().items()):
    if type(_value) is _function and not _name.startswith("_"):
        globals()[_name] = staticmethod(_value)
del _at, _name, _value, _function

"""Locks for a program with one thread. A thread cannot be started."""

error = RuntimeError
TIMEOUT_MAX = 9223372036.0


class LockType:
    """A lock that another thread cannot hold."""

    def __init__(self):
        self._held = False

    def acquire(self, blocking=True, timeout=-1):
        if self._held:
            if blocking and timeout < 0:
                raise RuntimeError("this lock is held, and no other thread can release it")
            return False
        self._held = True
        return True

    def release(self):
        if not self._held:
            raise RuntimeError("release unlocked lock")
        self._held = False

    def locked(self):
        return self._held

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *exception):
        self.release()

    def _at_fork_reinit(self):
        self._held = False

    acquire_lock = acquire
    release_lock = release
    locked_lock = locked


class RLock:
    """A lock that its holder can take again."""

    def __init__(self):
        self._count = 0

    def acquire(self, blocking=True, timeout=-1):
        self._count += 1
        return True

    def release(self):
        if not self._count:
            raise RuntimeError("cannot release un-acquired lock")
        self._count -= 1

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *exception):
        self.release()

    def _is_owned(self):
        return self._count > 0

    def _recursion_count(self):
        return self._count

    def _release_save(self):
        count, self._count = self._count, 0
        return count

    def _acquire_restore(self, count):
        self._count = count

    def _at_fork_reinit(self):
        self._count = 0


class _local:
    """The values of the only thread."""


def allocate_lock():
    return LockType()


allocate = allocate_lock


def get_ident():
    return 1


def get_native_id():
    return 1


def _set_sentinel():
    return LockType()


def _count():
    return 0


def stack_size(size=0):
    return 0


def daemon_threads_allowed():
    return True


def start_new_thread(function, args, kwargs={}):
    raise NotImplementedError("threads are not supported at this prompt")


start_new = start_new_thread


class _ExceptHookArgs(tuple):
    pass


def _excepthook(args):
    raise args[1]

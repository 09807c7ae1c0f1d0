"""Coroutines that take turns, in one thread. There are no sockets and no processes to wait for."""

import time


class CancelledError(BaseException):
    pass


class InvalidStateError(Exception):
    pass


TimeoutError = TimeoutError


class Future:
    """A result that comes later."""

    def __init__(self, *, loop=None):
        self._done, self._result, self._exception, self._callbacks = False, None, None, []

    def done(self):
        return self._done

    def result(self):
        if not self._done:
            raise InvalidStateError("Result is not set.")
        if self._exception is not None:
            raise self._exception
        return self._result

    def exception(self):
        if not self._done:
            raise InvalidStateError("Exception is not set.")
        return self._exception

    def cancelled(self):
        return isinstance(self._exception, CancelledError)

    def cancel(self, msg=None):
        if self._done:
            return False
        self.set_exception(CancelledError())
        return True

    def _finish(self):
        if self._done:
            raise InvalidStateError("invalid state")
        self._done = True
        for callback in self._callbacks:
            callback(self)

    def set_result(self, result):
        self._result = result
        self._finish()

    def set_exception(self, exception):
        self._exception = exception() if isinstance(exception, type) else exception
        self._finish()

    def add_done_callback(self, callback, *, context=None):
        callback(self) if self._done else self._callbacks.append(callback)

    def __await__(self):
        while not self._done:
            yield self
        return self.result()

    __iter__ = __await__


class Task(Future):
    """A coroutine that runs in turns with others."""

    def __init__(self, coro, *, loop=None, name=None, context=None):
        super().__init__()
        self._coro, self._wakes, self._waits, self._cancels = coro, 0.0, None, False
        self._name = name or f"Task-{len(_loop.tasks) + 1}"
        _loop.tasks.append(self)

    def get_name(self):
        return self._name

    def get_coro(self):
        return self._coro

    def cancel(self, msg=None):
        if self._done:
            return False
        self._cancels = True
        return True

    def _step(self):
        global _current
        before, _current = _current, self
        try:
            if self._cancels:
                self._cancels = False
                waits = self._coro.throw(CancelledError())
            else:
                waits = self._coro.send(None)
        except StopIteration as stop:
            self.set_result(stop.value)
        except BaseException as error:
            self.set_exception(error)
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
        else:
            self._waits = waits if isinstance(waits, Future) else None
            self._wakes = waits if isinstance(waits, float) else 0.0
        finally:
            _current = before


class _Loop:
    def __init__(self):
        self.tasks = []

    def time(self):
        return time.monotonic()

    def create_future(self):
        return Future()

    def create_task(self, coro, *, name=None, context=None):
        return Task(coro, name=name)

    def run_until_complete(self, future):
        task = ensure_future(future)
        while not task.done():
            self._round(task)
        return task.result()

    def _round(self, task):
        self.tasks = [other for other in self.tasks if not other.done()]
        now = time.monotonic()
        ready = [
            other
            for other in self.tasks
            if other._cancels or other._wakes <= now and (other._waits is None or other._waits.done())
        ]
        if not ready:
            times = [other._wakes for other in self.tasks if other._wakes > now]
            if not times:
                raise RuntimeError("every coroutine waits for something that cannot come")
            time.sleep(max(0.0, min(times) - now))
        for other in ready:
            if not other.done():
                other._step()

    def is_running(self):
        return _current is not None

    def close(self):
        pass

    def is_closed(self):
        return False


_loop = _Loop()
_current = None
AbstractEventLoop = _Loop


def run(main, *, debug=None):
    if _current is not None:
        raise RuntimeError("asyncio.run() cannot be called from a running event loop")
    if not iscoroutine(main):
        raise ValueError(f"a coroutine was expected, got {main!r}")
    try:
        return _loop.run_until_complete(main)
    finally:
        for task in _loop.tasks:
            if not task.done():
                task.cancel()
                task._step()
        _loop.tasks = []


def get_running_loop():
    if _current is None:
        raise RuntimeError("no running event loop")
    return _loop


def get_event_loop():
    return _loop


new_event_loop = get_event_loop


def current_task(loop=None):
    return _current


def all_tasks(loop=None):
    return {task for task in _loop.tasks if not task.done()}


def create_task(coro, *, name=None, context=None):
    get_running_loop()
    return Task(coro, name=name)


def iscoroutine(obj):
    return hasattr(obj, "send") and hasattr(obj, "__await__")


def iscoroutinefunction(func):
    import inspect

    return inspect.iscoroutinefunction(func)


def isfuture(obj):
    return isinstance(obj, Future)


def ensure_future(coro, *, loop=None):
    return coro if isinstance(coro, Future) else Task(coro)


class _Pause:
    def __init__(self, until):
        self.until = until

    def __await__(self):
        yield self.until


async def sleep(delay, result=None):
    await _Pause(time.monotonic() + delay if delay > 0 else None)
    return result


async def gather(*aws, return_exceptions=False):
    results = []
    for task in [ensure_future(aw) for aw in aws]:
        try:
            results.append(await task)
        except Exception as error:
            if not return_exceptions:
                raise
            results.append(error)
    return results


async def wait_for(fut, timeout):
    task = ensure_future(fut)
    if timeout is not None:
        end = time.monotonic() + timeout
        while not task.done() and time.monotonic() < end:
            await sleep(min(0.001, timeout))
        if not task.done():
            task.cancel()
            raise TimeoutError
    return await task


class Lock:
    """A lock between coroutines."""

    def __init__(self):
        self._held = False

    def locked(self):
        return self._held

    async def acquire(self):
        while self._held:
            await sleep(0)
        self._held = True
        return True

    def release(self):
        if not self._held:
            raise RuntimeError("Lock is not acquired.")
        self._held = False

    async def __aenter__(self):
        await self.acquire()

    async def __aexit__(self, *exception):
        self.release()


class Event:
    """A flag that coroutines wait for."""

    def __init__(self):
        self._set = False

    def is_set(self):
        return self._set

    def set(self):
        self._set = True

    def clear(self):
        self._set = False

    async def wait(self):
        while not self._set:
            await sleep(0)
        return True

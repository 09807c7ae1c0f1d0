"""Functions that run within a context, such as `torch.no_grad()`."""

import functools


def generator_within(renewed, function):
    """Decorates a generator function. The context is left while a generator waits, so the caller never runs within it."""

    @functools.wraps(function)
    def generator(*args, **keywords):
        inner = function(*args, **keywords)
        go_on = functools.partial(inner.send, None)
        while True:
            try:
                with renewed():
                    item = go_on()
            except StopIteration as stop:
                return stop.value
            try:
                go_on = functools.partial(inner.send, (yield item))
            except GeneratorExit:
                with renewed():
                    inner.close()
                raise
            except BaseException as error:
                go_on = functools.partial(inner.throw, error)

    return generator

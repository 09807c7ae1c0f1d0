"""The debugger. There is none here, but `doctest` is written on its class."""


class Pdb:
    def __init__(self, completekey="tab", stdin=None, stdout=None, skip=None, nosigint=False, readrc=True):
        self.stdout = stdout
        self.use_rawinput = 0

    def set_continue(self):
        pass

    def reset(self):
        pass

    def set_trace(self, frame=None):
        raise NotImplementedError("debuggers are not supported at this prompt")

    def trace_dispatch(self, frame, event, arg):
        raise NotImplementedError("debuggers are not supported at this prompt")


def set_trace(*, header=None):
    raise NotImplementedError("debuggers are not supported at this prompt")


post_mortem = pm = run = set_trace

"""Signals. The program itself handles Ctrl-C, which raises KeyboardInterrupt."""

from enum import IntEnum


class Signals(IntEnum):
    SIGHUP = 1
    SIGINT = 2
    SIGQUIT = 3
    SIGKILL = 9
    SIGUSR1 = 10
    SIGUSR2 = 12
    SIGPIPE = 13
    SIGALRM = 14
    SIGTERM = 15


class Handlers(IntEnum):
    SIG_DFL = 0
    SIG_IGN = 1


globals().update(Signals.__members__)
globals().update(Handlers.__members__)
NSIG = 65


def default_int_handler(signalnum, frame):
    raise KeyboardInterrupt


def getsignal(signalnum):
    return default_int_handler if signalnum == 2 else Handlers.SIG_DFL


def signal(signalnum, handler):
    raise NotImplementedError("handlers of signals are not supported at this prompt")


alarm = setitimer = pause = raise_signal = signal

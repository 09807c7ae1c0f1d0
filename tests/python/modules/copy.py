"""Stands before the module of that name in Python's library."""


def deepcopy(x):
    return ("a copy of our own", x)

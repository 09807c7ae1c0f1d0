"""A module.

>>> double(torch.tensor([1, 2]))
tensor([2, 4])
"""

import torch

FACTOR = 2


def double(x):
    """Double a tensor.

    >>> double(torch.ones(1))
    tensor([2.])
    >>> double('a\\\\b')
    'a\\\\ba\\\\b'
    """
    return FACTOR * x


class Layer:
    def forward(self, x):
        r"""
        >>> Layer().forward(torch.zeros(1))
        tensor([1.])
        """
        return x + 2

    def other(self):
        """Nothing to run here."""

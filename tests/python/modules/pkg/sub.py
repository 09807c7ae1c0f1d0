from . import VERSION
from .inner.leaf import make
def g(): return VERSION + make()

VERSION = "1.2"
from . import inner

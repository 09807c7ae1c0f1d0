
# NumPy does this when it is imported, which it always is here.
from numpy import floating as _floating, inexact as _inexact, integer as _integer, number as _number

Integral.register(_integer)
Complex.register(_inexact)
Real.register(_floating)
Number.register(_number)
del _floating, _inexact, _integer, _number

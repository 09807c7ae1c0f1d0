from math import *
def area(r): return pi * r ** 2

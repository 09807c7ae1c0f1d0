"""Help."""
import math
COUNT = 0
def f(x): return x * 2
def bump():
    global COUNT
    COUNT += 1
    return COUNT
class C:
    pass
    def __repr__(self): return "a C"
def who(): return __name__
def inner_import():
    from pkg.sub import g as inner
    return inner()
if __name__ == "__main__":
    print("never")

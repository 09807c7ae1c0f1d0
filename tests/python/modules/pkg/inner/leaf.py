class Outer:
    class D: pass
D = Outer.D
def make(): return "made"

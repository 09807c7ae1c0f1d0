__all__ = ["a_public", "Shown"]
a_public = 1
not_in_all = 2
_hidden = 3
class Shown:
    pass
Shown = "shown"

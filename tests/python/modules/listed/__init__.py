__all__ = ["ok", "fails"]

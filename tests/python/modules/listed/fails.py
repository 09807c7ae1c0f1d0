raise RuntimeError("fails at once")

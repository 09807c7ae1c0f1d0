x = 1
raise ValueError("broken here")

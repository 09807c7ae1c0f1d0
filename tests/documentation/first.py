def helper(x):
    return int(x[-1]) + 7

# A folder without __init__.py stands behind Python's library.

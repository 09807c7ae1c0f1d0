from circular_b import y
x = 1

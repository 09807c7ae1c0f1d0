from circular_a import x
y = 1

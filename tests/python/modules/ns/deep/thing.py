name = "in a namespace"

"""Puts types in the places of type parameters, as `list[T][int]` does."""


def substituted(alias, args, parameters, item):
    """Returns the arguments of an alias with `item` in the places of its parameters."""
    items = item if isinstance(item, tuple) else (item,)
    for parameter in parameters:
        prepare = getattr(type(parameter), "__typing_prepare_subst__", None)
        if prepare is not None:
            items = parameter.__typing_prepare_subst__(alias, items)
    if len(items) != len(parameters):
        many = "many" if len(items) > len(parameters) else "few"
        raise TypeError(f"Too {many} arguments for {alias!r}; actual {len(items)}, expected {len(parameters)}")
    new = dict(zip(parameters, items))
    made = []
    for arg in args:
        if isinstance(arg, type):
            made.append(arg)
        elif hasattr(arg, "__typing_subst__"):
            value = arg.__typing_subst__(new[arg])
            if getattr(arg, "__typing_is_unpacked_typevartuple__", False):
                made.extend(value)
            else:
                made.append(value)
        else:
            inner = getattr(arg, "__parameters__", ())
            if isinstance(inner, tuple) and inner:
                arg = arg[tuple(new[parameter] for parameter in inner)]
            made.append(arg)
    return tuple(made)

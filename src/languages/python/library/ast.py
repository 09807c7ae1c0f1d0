"""Literals from their texts. The trees of programs are not shown here."""

class AST:
    pass


class NodeVisitor:
    def visit(self, node):
        raise NotImplementedError("the trees of ast are not supported at this prompt")

    generic_visit = visit


class NodeTransformer(NodeVisitor):
    pass


def literal_eval(node_or_string):
    """Returns the value of a literal: numbers, texts, bytes, and tuples, lists, dictionaries and sets of them."""
    import io
    import tokenize

    if not isinstance(node_or_string, str):
        raise ValueError(f"malformed node or string: {node_or_string!r}")
    text = node_or_string.lstrip(" \t")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_name = token.type == tokenize.NAME and token.string not in ("True", "False", "None", "set")
        is_operator = token.type == tokenize.OP and token.string not in "()[]{},:+-"
        if is_name or is_operator:
            raise ValueError(f"malformed node or string on line {token.start[0]}: {token.string!r}")
    return eval(text, {"__builtins__": {"set": set}})


def parse(source, filename="<unknown>", mode="exec", *, type_comments=False, feature_version=None):
    raise NotImplementedError("ast.parse is not supported at this prompt")


dump = unparse = walk = iter_child_nodes = get_docstring = parse

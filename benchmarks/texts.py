"""What can be counted in a text: lines, tokens, and what a loop records."""

from __future__ import annotations

import ast
import io
import re
import tokenize

SKIPPED = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


def bare(text: str) -> str:
    """The functions of a text without comments, docstrings, annotations and imports, in one layout.

    >>> print(bare('import os\\ndef f(x: int):\\n    "What."\\n    return (x +  1)  # one more'))
    def f(x):
        return x + 1
    """
    tree = ast.parse(text)
    tree.body = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            if ast.get_docstring(node) is not None:
                del node.body[0]
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
    return ast.unparse(tree)


def tokens(text: str) -> int:
    """How many tokens the functions of a text have.

    >>> tokens("def f(x):\\n    return x")
    8
    """
    found = tokenize.generate_tokens(io.StringIO(bare(text)).readline)
    return sum(token.type not in SKIPPED for token in found)


def lines(text: str) -> int:
    """How many lines the functions of a text have, in one layout; wide ones count as one."""
    return sum(bool(line.strip()) for line in bare(text).splitlines())


def records(text: str) -> int:
    """How many values the loops of a text keep for the backward half, each trip; parts of tuples apart.

    Kept is what is put on a list, or on one of which a pullback has a copy, and taken off it. A list of the function
    itself is no record.

    >>> records("for _ in x:\\n    kept.append((x, y))\\n    parts.append(x)\\nfor _ in x:\\n    x, y = kept.pop()")
    2
    """
    tree = ast.parse(text)
    popped = set(re.findall(r"(\w+)\.pop\(\)", text))
    popped |= {kept for own, kept in re.findall(r"(\w+) = (\w+)\.copy\(\)", text) if own in popped}
    appended = [
        node.args[0]
        for loop in ast.walk(tree)
        if isinstance(loop, ast.For | ast.While)
        for node in ast.walk(loop)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append"
        if ast.unparse(node.func.value) in popped
    ]
    return sum(len(value.elts) if isinstance(value, ast.Tuple) else 1 for value in appended)

"""Text of expressions.

Precedence and spelling of the operators of Python, and the table of the printers that use them.

Text of what binds names inside an expression: lambda, comprehensions, `:=`; and parameters.

Text of operations: arithmetic, comparisons, conditions, and the words await and yield.

Text of constants: numbers that come back bit for bit, and strings in double quotes.

Text of names, constants, calls, subscripts and of tuples, lists, sets and dicts.

Text of one expression: one line, no parenthesis that is not needed, spaced as black does.

Every printer takes a node and the lowest precedence that may stand there without parentheses. A
printer calls the printers of its children directly, one Python frame for each level of the tree.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import gast

# `BARE` is a place where a tuple needs no parentheses (right of `=`, behind `return`, in `a[...]`);
# `NAMED` is a place where `x := e` needs none (a condition, a positional argument).
BARE, NAMED, TEST, OR, AND, NOT, COMPARE, BITOR, BITXOR, BITAND, SHIFT = range(11)
ARITHMETIC, TERM, FACTOR, POWER, AWAIT, ATOM = range(11, 17)

BINARY: dict[type, tuple[str, int]] = {
    gast.Add: (" + ", ARITHMETIC),
    gast.Sub: (" - ", ARITHMETIC),
    gast.Mult: (" * ", TERM),
    gast.Div: (" / ", TERM),
    gast.MatMult: (" @ ", TERM),
    gast.FloorDiv: (" // ", TERM),
    gast.Mod: (" % ", TERM),
    gast.LShift: (" << ", SHIFT),
    gast.RShift: (" >> ", SHIFT),
    gast.BitAnd: (" & ", BITAND),
    gast.BitXor: (" ^ ", BITXOR),
    gast.BitOr: (" | ", BITOR),
    gast.Pow: (" ** ", POWER),
}
UNARY: dict[type, tuple[str, int]] = {
    gast.USub: ("-", FACTOR),
    gast.UAdd: ("+", FACTOR),
    gast.Invert: ("~", FACTOR),
    gast.Not: ("not ", NOT),
}
COMPARISON: dict[type, str] = {
    gast.Eq: " == ",
    gast.NotEq: " != ",
    gast.Lt: " < ",
    gast.LtE: " <= ",
    gast.Gt: " > ",
    gast.GtE: " >= ",
    gast.Is: " is ",
    gast.IsNot: " is not ",
    gast.In: " in ",
    gast.NotIn: " not in ",
}
NUMBERS = (int, float, complex)

# Kind of node to its printer; filled in `expression.py`.
PRINTERS: dict[type, Callable[[gast.AST, int], str]] = {}


def print_at(node: gast.AST, level: int = TEST) -> str:
    """Text of a node where only what binds at least as tightly as `level` needs no parentheses."""
    return PRINTERS[type(node)](node, level)


def parameters(node: gast.AST) -> list[str]:
    """The parameters of a function or lambda, with `/`, `*`, defaults and annotations."""
    positional = [*node.posonlyargs, *node.args]
    plain = len(positional) - len(node.defaults)
    parts = [_parameter(each, None if at < plain else node.defaults[at - plain]) for at, each in enumerate(positional)]
    if node.posonlyargs:
        parts.insert(len(node.posonlyargs), "/")
    if node.vararg is not None:
        parts.append("*" + _parameter(node.vararg, None))
    elif node.kwonlyargs:
        parts.append("*")
    pairs = zip(node.kwonlyargs, node.kw_defaults, strict=True)
    parts += [_parameter(each, default) for each, default in pairs]
    if node.kwarg is not None:
        parts.append("**" + _parameter(node.kwarg, None))
    return parts


def _parameter(node: gast.AST, default: gast.AST | None) -> str:
    text, equals = str(node.id), "="
    if node.annotation is not None:
        text, equals = f"{text}: {print_at(node.annotation)}", " = "
    return text if default is None else text + equals + print_at(default)


def lambda_function(node: gast.AST, level: int) -> str:
    """A lambda."""
    header = ", ".join(parameters(node.args))
    body = PRINTERS[type(node.body)](node.body, TEST)
    text = f"lambda {header}: {body}" if header else f"lambda: {body}"
    return f"({text})" if level > TEST else text


def _generators(node: gast.AST) -> str:
    text = ""
    for each in node.generators:
        start = " async for " if each.is_async else " for "
        text += f"{start}{print_at(each.target, BARE)} in {print_at(each.iter, OR)}"
        text += "".join([f" if {print_at(test, OR)}" for test in each.ifs])
    return text


def comprehension(opening: str, closing: str) -> Callable[[gast.AST, int], str]:
    """The printer of a comprehension between these brackets."""

    def text(node: gast.AST, level: int) -> str:
        return f"{opening}{print_at(node.elt)}{_generators(node)}{closing}"

    return text


def dict_comprehension(node: gast.AST, level: int) -> str:
    """A comprehension of a dict."""
    return f"{{{print_at(node.key)}: {print_at(node.value)}{_generators(node)}}}"


def print_named(node: gast.AST, level: int) -> str:
    """`name := value`."""
    text = f"{node.target.id} := {PRINTERS[type(node.value)](node.value, TEST)}"
    return text if level == NAMED else f"({text})"


# A name, a dotted name or a number.
SIMPLE = re.compile(r"\d[\d.]*(?:e[-+]?\d+)?j?|[^\W\d][\w.]*")


def print_binary(node: gast.AST, level: int) -> str:
    """A chain of binary operators, from right to left: no recursion along `a + b + c + ...`."""
    operator, own = BINARY[type(node.op)]
    parts: list[str] = []
    opened = 0
    while own != POWER:
        if own < level:
            parts.append(")")
            opened += 1
        right = node.right
        parts.append(PRINTERS[type(right)](right, own + 1))
        parts.append(operator)
        node, level = node.left, own
        if type(node) is not gast.BinOp:
            parts.append(PRINTERS[type(node)](node, own))
            break
        operator, own = BINARY[type(node.op)]
    else:
        parts.append(power(node, level))
    parts.append("(" * opened)
    parts.reverse()
    return "".join(parts)


def power(node: gast.AST, level: int) -> str:
    """A power; names, dotted names and numbers stand close to `**`, as black has it."""
    left = PRINTERS[type(node.left)](node.left, AWAIT)
    right = PRINTERS[type(node.right)](node.right, FACTOR)
    hugs = SIMPLE.fullmatch(left) and SIMPLE.fullmatch(right[right[0] in "-+~" :])
    text = f"{left}**{right}" if hugs else f"{left} ** {right}"
    return f"({text})" if level > POWER else text


def print_unary(node: gast.AST, level: int) -> str:
    """A sign or `not`; `-(x**2)` keeps the parentheses that black would add."""
    operator, own = UNARY[type(node.op)]
    operand = node.operand
    is_power = isinstance(operand, gast.BinOp) and isinstance(operand.op, gast.Pow)
    text = operator + PRINTERS[type(operand)](operand, AWAIT if is_power and own == FACTOR else own)
    return f"({text})" if level > own else text


def print_boolean(node: gast.AST, level: int) -> str:
    """`and` and `or`."""
    word, own = (" and ", AND) if isinstance(node.op, gast.And) else (" or ", OR)
    text = word.join([PRINTERS[type(each)](each, own + 1) for each in node.values])
    return f"({text})" if level > own else text


def compare(node: gast.AST, level: int) -> str:
    """A chain of comparisons."""
    text = PRINTERS[type(node.left)](node.left, BITOR)
    for operator, right in zip(node.ops, node.comparators, strict=True):
        text += COMPARISON[type(operator)] + PRINTERS[type(right)](right, BITOR)
    return f"({text})" if level > COMPARE else text


def print_conditional(node: gast.AST, level: int) -> str:
    """`body if test else orelse`."""
    body, test, orelse = node.body, node.test, node.orelse
    text = (
        f"{PRINTERS[type(body)](body, OR)} if {PRINTERS[type(test)](test, OR)}"
        f" else {PRINTERS[type(orelse)](orelse, TEST)}"
    )
    return f"({text})" if level > TEST else text


def print_await(node: gast.AST, level: int) -> str:
    """`await value`."""
    text = "await " + PRINTERS[type(node.value)](node.value, ATOM)
    return f"({text})" if level > AWAIT else text


def print_yield(node: gast.AST, level: int) -> str:
    """`yield value`."""
    text = "yield" if node.value is None else f"yield {print_at(node.value, BARE)}"
    return text if level == BARE else f"({text})"


def yielding_from(node: gast.AST, level: int) -> str:
    """`yield from value`."""
    text = f"yield from {print_at(node.value)}"
    return text if level == BARE else f"({text})"


def print_starred(node: gast.AST, level: int) -> str:
    """`*value`."""
    return "*" + PRINTERS[type(node.value)](node.value, BITOR)


def literal(value: object) -> str:
    """Text of a constant.

    >>> literal(0.00001), literal(float("-inf")), literal('say "hi"'), literal("it's"), literal(...)
    ('1e-05', '-float("inf")', '\\'say "hi"\\'', '"it\\'s"', '...')
    """
    if isinstance(value, str):
        return quote_string(value)
    if isinstance(value, bytes):
        return "b" + _double_quotes(repr(bytes(value))[1:])
    if value is ...:
        return "..."
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, complex):
        return _complex_text(value)
    return repr(value)


def quote_string(value: str) -> str:
    """The string in double quotes, or in single quotes where those need fewer backslashes."""
    return _double_quotes(str.__repr__(value))


def body_in(value: str, quote: str) -> str:
    """The characters of the string, escaped so that they can stand between the given quotes."""
    text = str.__repr__(value)
    inner = text[1:-1]
    if text[0] == "'":
        inner = inner.replace("\\'", "'")
    return inner.replace(quote[0], "\\" + quote[0])


def _double_quotes(text: str) -> str:
    """Text of repr, in double quotes unless those need more backslashes."""
    if text[0] == '"':
        return text
    inner = text[1:-1]
    if '"' not in inner:
        return f'"{inner}"'
    if inner.count('"') > inner.count("\\'"):
        return text
    double = inner.replace("\\'", "'").replace('"', '\\"')
    return f'"{double}"'


def f_string(parts: list[tuple[str, bool]]) -> str:
    """An f-string of characters (False) and fields with their braces (True).

    No field contains the quotes: before Python 3.12 it may not.

    >>> print(f_string([("loss ", False), ('{d["loss"]}', True)]))
    f'loss {d["loss"]}'
    """
    fields = "".join([text for text, is_field in parts if is_field])
    plain = "".join([text for text, is_field in parts if not is_field])
    usable = [quote for quote in ('"', "'", '"""', "'''") if quote not in fields]
    quote = min(usable, key=lambda each: plain.count(each[0]), default='"')
    text = "".join(
        [text if is_field else body_in(text, quote).replace("{", "{{").replace("}", "}}") for text, is_field in parts]
    )
    return f"f{quote}{text}{quote}"


def _float_text(value: float) -> str:
    """A float; `float.__repr__` because a NumPy scalar is a float with a repr of its own."""
    if math.isfinite(value):
        return float.__repr__(value).replace("e+", "e")
    if math.isnan(value):
        return 'float("nan")'
    return 'float("inf")' if value > 0 else '-float("inf")'


def _complex_text(value: complex) -> str:
    """`2j`, or `complex(...)` for what no literal can spell."""
    positive = all(math.copysign(1.0, part) > 0 for part in (value.real, value.imag))
    if value.real == 0 and positive and math.isfinite(value.imag):
        return complex.__repr__(complex(value))
    return f"complex({_float_text(value.real)}, {_float_text(value.imag)})"


def docstring(value: str) -> str:
    '''The string in triple quotes, with its line breaks kept.

    >>> print(docstring("One line."))
    """One line."""
    '''
    lines = (body_in(line, "'").replace("\\'", "'") for line in value.split("\n"))
    text = "\n".join(lines).replace('"""', '\\"\\"\\"')
    if text.endswith('"'):
        text = text[:-1] + '\\"'
    return f'"""{text}"""'


def name(node: gast.AST, level: int) -> str:
    """A name."""
    return str(node.id)


def print_constant(node: gast.AST, level: int) -> str:
    """A constant; a negative number binds like a sign."""
    value: object = node.value
    text = repr(value) if type(value) is int else literal(value)
    return f"({text})" if level > FACTOR and text[0] == "-" else text


def attribute(node: gast.AST, level: int) -> str:
    """`owner.name`; a number in front of the dot needs parentheses."""
    owner = node.value
    text = PRINTERS[type(owner)](owner, ATOM)
    if text[-1].isalnum() and isinstance(owner, gast.Constant) and type(owner.value) in NUMBERS:
        text = f"({text})"
    return f"{text}.{node.attr}"


def subscript(node: gast.AST, level: int) -> str:
    """`owner[index]`, without parentheses around a tuple."""
    owner, index = node.value, node.slice
    head = PRINTERS[type(owner)](owner, ATOM)
    if type(index) is gast.Tuple and index.elts:
        # `a[*b]` is a syntax error before Python 3.11, `a[(*b,)]` is the same tree.
        if any(isinstance(each, gast.Starred) for each in index.elts):
            return f"{head}[{PRINTERS[gast.Tuple](index, TEST)}]"
        text = ", ".join([PRINTERS[type(each)](each, TEST) for each in index.elts])
        return f"{head}[{text},]" if len(index.elts) == 1 else f"{head}[{text}]"
    return f"{head}[{PRINTERS[type(index)](index, TEST)}]"


def slice_bounds(node: gast.AST, level: int) -> str:
    """`lower:upper:step`, with blanks around the colons where a bound is no name or number."""
    lower, upper, step = (
        "" if part is None else PRINTERS[type(part)](part, TEST) for part in (node.lower, node.upper, node.step)
    )
    if all(_hugs_colon(part) for part in (node.lower, node.upper, node.step)):
        return f"{lower}:{upper}:{step}" if step else f"{lower}:{upper}"
    text = f"{lower} :" if lower else ":"
    text = f"{text} {upper}" if upper else text
    if not step:
        return text
    return f"{text} : {step}" if upper else f"{text}: {step}"


def _hugs_colon(part: gast.AST | None) -> bool:
    while isinstance(part, gast.UnaryOp) and not isinstance(part.op, gast.Not):
        part = part.operand
    return part is None or isinstance(part, (gast.Name, gast.Constant))


def call(node: gast.AST, level: int) -> str:
    """A call; a lone generator shares its parentheses."""
    func, arguments = node.func, node.args
    head = PRINTERS[type(func)](func, ATOM)
    if not node.keywords:
        if len(arguments) == 1:
            only = arguments[0]
            text = PRINTERS[type(only)](only, NAMED)
            return head + text if isinstance(only, gast.GeneratorExp) else f"{head}({text})"
        return f"{head}({', '.join([PRINTERS[type(each)](each, NAMED) for each in arguments])})"
    parts = [PRINTERS[type(each)](each, NAMED) for each in arguments]
    parts += [_keyword(each) for each in node.keywords]
    return f"{head}({', '.join(parts)})"


def _keyword(node: gast.AST) -> str:
    """`name=value` or `**value` of a call."""
    text = PRINTERS[type(node.value)](node.value, TEST)
    return f"**{text}" if node.arg is None else f"{node.arg}={text}"


def tuple_display(node: gast.AST, level: int) -> str:
    """A tuple, bare where `level` allows it and it has two elements or more."""
    elements = node.elts
    text = ", ".join([PRINTERS[type(each)](each, TEST) for each in elements])
    if len(elements) == 1:
        return f"({text},)"
    return text if level == BARE and elements else f"({text})"


def list_display(node: gast.AST, level: int) -> str:
    """A list."""
    return f"[{', '.join([PRINTERS[type(each)](each, TEST) for each in node.elts])}]"


def set_display(node: gast.AST, level: int) -> str:
    """A set."""
    return f"{{{', '.join([PRINTERS[type(each)](each, TEST) for each in node.elts])}}}"


def dict_display(node: gast.AST, level: int) -> str:
    """A dict, with `**rest` where a key is None."""
    parts = []
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            parts.append("**" + PRINTERS[type(value)](value, BITOR))
        else:
            parts.append(f"{PRINTERS[type(key)](key, TEST)}: {PRINTERS[type(value)](value, TEST)}")
    return f"{{{', '.join(parts)}}}"


def print_joined(node: gast.AST, level: int) -> str:
    """An f-string."""
    return f_string([_field(each) for each in node.values])


def _field(node: gast.AST) -> tuple[str, bool]:
    """Characters of an f-string and False, or the text `{value!r:spec}` and True."""
    if isinstance(node, gast.Constant):
        return str(node.value), False
    text = print_at(node.value, OR)
    if "'" not in text and "\\" not in text:
        text = text.replace('"', "'")
    text = " " + text if text[0] == "{" else text
    text += "" if node.conversion < 0 else f"!{chr(node.conversion)}"
    if node.format_spec is not None:
        text += ":" + "".join(
            part if is_field else part.replace("\n", "\\n") for part, is_field in map(_field, node.format_spec.values)
        )
    return f"{{{text}}}", True


def expression(node: gast.AST, level: int = TEST) -> str:
    """Text of an expression on one line, in parentheses where `level` asks for them.

    >>> import gast
    >>> def again(text): return expression(gast.parse(text, mode="eval").body)
    >>> again("(x*y)*(z**2) - (a-(b))"), again("v[(i+1):, None]"), again("-(a if c else b)")
    ('x * y * z**2 - (a - b)', 'v[i + 1 :, None]', '-(a if c else b)')
    """
    return print_at(node, level)


PRINTERS.update(
    {
        gast.Name: name,
        gast.Constant: print_constant,
        gast.Attribute: attribute,
        gast.Subscript: subscript,
        gast.Slice: slice_bounds,
        gast.Call: call,
        gast.BinOp: print_binary,
        gast.UnaryOp: print_unary,
        gast.BoolOp: print_boolean,
        gast.Compare: compare,
        gast.IfExp: print_conditional,
        gast.Tuple: tuple_display,
        gast.List: list_display,
        gast.Set: set_display,
        gast.Dict: dict_display,
        gast.Starred: print_starred,
        gast.NamedExpr: print_named,
        gast.Await: print_await,
        gast.Yield: print_yield,
        gast.YieldFrom: yielding_from,
        gast.Lambda: lambda_function,
        gast.ListComp: comprehension("[", "]"),
        gast.SetComp: comprehension("{", "}"),
        gast.GeneratorExp: comprehension("(", ")"),
        gast.DictComp: dict_comprehension,
        gast.JoinedStr: print_joined,
    }
)

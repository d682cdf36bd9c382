"""Text of expressions, statements and functions, as a careful person would have typed them.

Numbers come back bit for bit, no parenthesis is there that is not needed, spaces are those of black. A printer of an
expression takes a node and the lowest precedence that may stand there without parentheses, and calls those of its
children directly, one Python frame for each level of the tree.

A line that is too long is broken in the manner of black: the right-most brackets that leave a first line short enough
are opened, and what is in them stands indented on a line of its own. What is too long even there is broken at its
loosest delimiters: behind commas, or in front of operators. Only here is astor known: it prints the few kinds of
statement that generated code never uses.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import SupportsIndex

import gast

from srcgrad.core.errors import DifferentiationError
from srcgrad.core.identity import record

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


TOKEN = re.compile(
    r"""\s*(?:
        [a-zA-Z]{0,2}(?:\"{3}(?:[^\\]|\\.)*?\"{3} | '{3}(?:[^\\]|\\.)*?'{3})
      | [a-zA-Z]{0,2}(?:"(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*')
      | \d[\d.]*(?:e[-+]?\d+)?j?
      | \w+ | [()\[\]{}.,] | [^\w\s()\[\]{}.,"']+ | .
    )""",
    re.VERBOSE | re.DOTALL,
)
OPENING, CLOSING = frozenset("([{"), frozenset(")]}")

# How loosely a delimiter binds: a line is broken at its loosest delimiters first.
COMPREHENSION, COMMA, TERNARY, LOGIC, COMPARATOR, DOT = 20, 18, 16, 14, 10, 1
OPERATORS = {
    **dict.fromkeys(["and", "or"], LOGIC),
    **dict.fromkeys(["<", ">", "==", "!=", "<=", ">=", "is", "in"], COMPARATOR),
    **dict(zip(["|", "^", "&", "<<", ">>"], [9, 8, 7, 6, 6], strict=True)),
    **dict.fromkeys(["+", "-"], 5),
    **dict.fromkeys(["*", "/", "//", "%", "@"], 4),
    "**": 2,
}


@record(frozen=True)
class Line:
    """Tokens, each with the blank in front of it if there is one."""

    tokens: tuple[str, ...]

    @cached_property
    def text(self) -> str:
        return "".join(self.tokens).strip()

    @cached_property
    def pairs(self) -> dict[int, int]:
        """Opening bracket to closing bracket, of the pairs that are inside no other pair."""
        found: dict[int, int] = {}
        opened: list[int] = []
        for at, token in enumerate(self.tokens):
            word = token[-1]
            if word in OPENING and len(token.strip()) == 1:
                opened.append(at)
            elif word in CLOSING and len(token) == 1 and opened:
                start = opened.pop()
                if not opened:
                    found[start] = at
        return found

    @cached_property
    def delimiters(self) -> dict[int, int]:
        """Token in front of which the line may be broken (behind a comma), to its looseness."""
        found: dict[int, int] = {}
        conditions: list[int] = []
        hidden = 0  # inside `for ... in` and `lambda ...:`, where commas separate no elements
        for at in self._outermost():
            word = self.tokens[at].strip()
            if word == "for" and at > 0:
                found[at] = COMPREHENSION
            if word in ("for", "lambda"):
                hidden += 1
            elif hidden:
                hidden -= word == "in" or word.startswith(":")
            elif word == ",":
                found[at + 1] = COMMA
            elif word == "if":
                conditions.append(at)
                found[at] = COMPREHENSION
            elif word == "else" and conditions:
                found[at] = found[conditions.pop()] = TERNARY
            elif rank := self._looseness(at, word):
                found[at] = rank
        return {at: rank for at, rank in found.items() if 0 < at < len(self.tokens)}

    def _outermost(self) -> Iterator[int]:
        at = 0
        while at < len(self.tokens):
            yield at
            at = self.pairs.get(at, at) + 1

    def _looseness(self, at: int, word: str) -> int:
        """Looseness of an operator or of a dot behind a bracket; 0 of all else.

        A binary operator has a blank on either side, a sign has none behind it.
        """
        before = self.tokens[at - 1].strip() if at else ""
        after = self.tokens[at + 1] if at + 1 < len(self.tokens) else ""
        if word == ".":
            return DOT if before in CLOSING else 0
        if word == "not":
            return COMPARATOR if after == " in" else 0
        if before == "not" or not after.startswith(" ") or not self.tokens[at].startswith(" "):
            return 0
        return OPERATORS.get(word, 0)

    @property
    def loosest_delimiter(self) -> int:
        """Looseness of the delimiters at which the line is broken first; 0 if it has none."""
        return max(self.delimiters.values(), default=0)

    def count(self, rank: int) -> int:
        """Number of delimiters of that looseness."""
        return sum(each == rank for each in self.delimiters.values())

    def part(self, start: int, stop: int | None = None) -> Line:
        """The tokens from `start` up to `stop`."""
        return Line(self.tokens[start:stop])

    def is_literal(self, opening: int) -> bool:
        """Whether the bracket opens a tuple, list, set or dict, and no call or subscript."""
        if opening == 0 or self.tokens[opening][0] == " ":
            return True
        last = self.tokens[opening - 1][-1]
        return not (last.isalnum() or last in "_)]}\"'")


def tokenize(text: str) -> Line:
    """The line of a text.

    >>> tokenize("f(x) - 'a b' * 1e-05").tokens
    ('f', '(', 'x', ')', ' -', " 'a b'", ' *', ' 1e-05')
    """
    return Line(tuple(TOKEN.findall(text.rstrip())))


# What follows these words is no single expression, and means something else in parentheses.
NO_PARENTHESES = ("", "@", "import ", "global ", "nonlocal ", "del ")


def wrap(head: str, text: str, tail: str, *, indent: int, width: int) -> list[str]:
    """Lines of the statement `head + text + tail`, in which `text` may be put in parentheses.

    >>> print(*wrap("loss = ", "first_term * 2.0 + second_term", "", indent=0, width=36), sep="\\n")
    loss = (
        first_term * 2.0 + second_term
    )
    """
    if indent + len(head) + len(text) + len(tail) <= width:
        return [f"{' ' * indent}{head}{text}{tail}"]
    targets = _long_targets(head, indent, width)
    if targets is not None:
        first = _in_parentheses("", targets, "", indent, width)
        return [*first[:-1], *wrap(") = ", text, tail, indent=indent, width=width)]
    whole, body = tokenize(f"{head}{text}{tail}"), tokenize(text)
    if head in NO_PARENTHESES or not text:
        return _split(whole, indent, width)
    in_parentheses = _in_parentheses(head, body, tail, indent, width)
    if head.startswith("from ") or not _does_without_parentheses(head, body, indent, width):
        return in_parentheses
    return _at_own_brackets(whole, head, in_parentheses, indent, width)


def _long_targets(head: str, indent: int, width: int) -> Line | None:
    """The targets of `x_bar, w_bar, ... = ` if they fill a line by themselves."""
    targets = tokenize(head.removesuffix(" = "))
    is_one_tuple = head.endswith(" = ") and head.count(" = ") == 1 and targets.loosest_delimiter == COMMA
    return targets if is_one_tuple and indent + len(head) >= width else None


def _at_own_brackets(whole: Line, head: str, in_parentheses: list[str], indent: int, width: int) -> list[str]:
    """The statement opened at brackets of its body, or in parentheses where that reads better."""
    start = len(tokenize(head).tokens)
    openings = [each for each in _openings(whole, indent, width) if each >= start]
    if not openings:
        can_help = len(whole.tokens) > start + 1 or len(in_parentheses[1]) <= width
        return in_parentheses if can_help else _split(whole, indent, width)
    for opening in openings:
        if indent + len(whole.part(0, opening + 1).text) <= width:
            return _break_at_brackets(whole, opening, indent, width)
        is_behind_brackets = any(token in CLOSING for token in whole.tokens[start:opening])
        if _prefers_parentheses(head, indent, width) and not is_behind_brackets:
            return in_parentheses
    lines = _break_at_brackets(whole, openings[0], indent, width)
    if len(lines[0]) > width and all(len(line) <= width for line in in_parentheses):
        return in_parentheses
    return lines


def wrap_definition(head: str, parameters: Sequence[str], tail: str, *, indent: int, width: int) -> list[str]:
    """Lines of `head(parameters)tail`: the parameters on one line of their own, or one on each.

    >>> print(*wrap_definition("def f", ["x", "scale=1.0"], ":", indent=0, width=18), sep="\\n")
    def f(
        x, scale=1.0
    ):
    """
    one = ", ".join(parameters)
    margin, inner = " " * indent, " " * (indent + STEP)
    if not parameters or indent + len(head) + len(one) + len(tail) + 2 <= width:
        return [f"{margin}{head}({one}){tail}"]
    if len(parameters) > 1 and len(inner) + len(one) <= width:
        return [f"{margin}{head}(", inner + one, f"{margin}){tail}"]
    lines = [line for each in parameters for line in _lines(tokenize(f"{each},"), indent + STEP, width, inside=True)]
    return [f"{margin}{head}(", *lines, f"{margin}){tail}"]


def _in_parentheses(head: str, body: Line, tail: str, indent: int, width: int) -> list[str]:
    """The statement with parentheses around its body; the elements of a tuple get a line each."""
    if body.loosest_delimiter == COMMA or head.startswith("from "):
        inner = _at_delimiters(body, COMMA, indent + STEP, width)
    else:
        inner = _lines(body, indent + STEP, width, inside=True)
    first = _lines(tokenize(f"{head}("), indent, width, inside=False)
    return [*first, *inner, f"{' ' * indent}){tail}"]


def _does_without_parentheses(head: str, body: Line, indent: int, width: int) -> bool:
    """Whether the body is broken well enough at the brackets that it has."""
    rank = body.loosest_delimiter
    if rank == 0 or (rank == DOT and body.count(DOT) == 1):
        return True
    if body.count(rank) > 1 or (rank == COMMA and head.startswith("with ")):
        return False
    return _starts_with_brackets(body, indent, width) or _ends_with_brackets(body, indent, width)


def _starts_with_brackets(body: Line, indent: int, width: int) -> bool:
    """`(...) * c`: what follows the brackets, up to the next ones, fits on a line."""
    closing = body.pairs.get(0, 0)
    if closing < 2:
        return False
    following = [at for at in body.pairs if at > closing]
    stop = following[0] + 1 if following else None
    return indent + STEP + len(body.part(closing, stop).text) <= width


def _ends_with_brackets(body: Line, indent: int, width: int) -> bool:
    """`c * f(...)`: what is in front of the last brackets fits on a line, or has brackets itself."""
    last = len(body.tokens) - 1
    opening = next((a for a, b in body.pairs.items() if b == last), last)
    if last - opening < 2 or (body.tokens[last] == "]" and not body.is_literal(opening)):
        return False
    others = any(at < opening for at in body.pairs)
    return others or indent + STEP + len(body.part(0, opening + 1).text) <= width


def _prefers_parentheses(head: str, indent: int, width: int) -> bool:
    """`a[i] = f(x)` should not be broken inside `a[i]`."""
    has_brackets = any(character in OPENING for character in head)
    return head.endswith(" = ") and has_brackets and indent + len(head) < width


def _lines(line: Line, indent: int, width: int, *, inside: bool) -> list[str]:
    """The line, broken if it is too long; `inside` brackets it may be broken at its delimiters.

    Brackets so deep that the margin is as wide as the page are left alone.
    """
    if indent + len(line.text) <= width or indent >= width:
        return [" " * indent + line.text]
    rank = line.loosest_delimiter
    if inside and rank and not (rank == DOT and line.count(DOT) == 1):
        return _at_delimiters(line, rank, indent, width)
    return _split(line, indent, width)


def _at_delimiters(line: Line, rank: int, indent: int, width: int) -> list[str]:
    """The parts of the line between the delimiters of that looseness, each on a line."""
    places = [at for at, each in line.delimiters.items() if each == rank]
    tokens = line.tokens
    if rank == COMMA and tokens[-1] != ",":
        tokens = (*tokens, ",")
    stops = [*sorted(places), len(tokens)]
    parts = [Line(tokens[a:b]) for a, b in zip([0, *stops], stops, strict=False)]
    return [text for part in parts for text in _lines(part, indent, width, inside=True)]


def _split(line: Line, indent: int, width: int) -> list[str]:
    """The line, opened at the right-most brackets that leave a first line short enough."""
    openings = list(_openings(line, indent, width))
    for opening in openings:
        if indent + len(line.part(0, opening + 1).text) <= width:
            return _break_at_brackets(line, opening, indent, width)
    return _break_at_brackets(line, openings[0], indent, width) if openings else [" " * indent + line.text]


def _openings(line: Line, indent: int, width: int) -> Iterator[int]:
    """Brackets with something in them, from the right, while what follows them fits on a line."""
    for count, (opening, closing) in enumerate(reversed(line.pairs.items())):
        if count and indent + len(line.part(closing).text) > width:
            return
        if closing > opening + 1:
            yield opening


def _break_at_brackets(line: Line, opening: int, indent: int, width: int) -> list[str]:
    """The line with a line break behind the opening and in front of the closing bracket."""
    closing = line.pairs[opening]
    body = line.part(opening + 1, closing)
    if line.is_literal(opening) and body.loosest_delimiter == COMMA:
        inner = _at_delimiters(body, COMMA, indent + STEP, width)
    else:
        inner = _lines(body, indent + STEP, width, inside=True)
    first = _lines(line.part(0, opening + 1), indent, width, inside=False)
    return [*first, *inner, *_lines(line.part(closing), indent, width, inside=False)]


def _assign(node: gast.AST) -> tuple[str, str, str]:
    head = "".join([f"{expression(target, BARE)} = " for target in node.targets])
    return head, expression(node.value, BARE), ""


def _print_augmented(node: gast.AST) -> tuple[str, str, str]:
    symbol = BINARY[type(node.op)][0].strip()
    return f"{expression(node.target)} {symbol}= ", expression(node.value), ""


def _print_annotated(node: gast.AST) -> tuple[str, str, str]:
    target = expression(node.target)
    if not node.simple and isinstance(node.target, gast.Name):
        target = f"({target})"
    head = f"{target}: {expression(node.annotation)}"
    return (head, "", "") if node.value is None else (f"{head} = ", expression(node.value), "")


def _return(node: gast.AST) -> tuple[str, str, str]:
    if node.value is None:
        return "return", "", ""
    return "return ", expression(node.value, BARE), ""


def _expression_statement(node: gast.AST) -> tuple[str, str, str]:
    return "", expression(node.value, BARE), ""


def _assert(node: gast.AST) -> tuple[str, str, str]:
    if node.msg is None:
        return "assert ", expression(node.test), ""
    return f"assert {expression(node.test)}, ", expression(node.msg), ""


def _raise(node: gast.AST) -> tuple[str, str, str]:
    if node.exc is None:
        return "raise", "", ""
    cause = "" if node.cause is None else f" from {expression(node.cause)}"
    return "raise ", expression(node.exc), cause


def _delete(node: gast.AST) -> tuple[str, str, str]:
    return "del ", ", ".join([expression(each) for each in node.targets]), ""


def _aliases(node: gast.AST) -> str:
    names = [f"{each.name} as {each.asname}" if each.asname else each.name for each in node.names]
    return ", ".join(names)


def _import(node: gast.AST) -> tuple[str, str, str]:
    return "import ", _aliases(node), ""


def _import_from(node: gast.AST) -> tuple[str, str, str]:
    return f"from {'.' * (node.level or 0)}{node.module or ''} import ", _aliases(node), ""


PRINTED: dict[type, Callable[[gast.AST], tuple[str, str, str]]] = {
    gast.Assign: _assign,
    gast.AugAssign: _print_augmented,
    gast.AnnAssign: _print_annotated,
    gast.Return: _return,
    gast.Expr: _expression_statement,
    gast.Assert: _assert,
    gast.Raise: _raise,
    gast.Delete: _delete,
    gast.Import: _import,
    gast.ImportFrom: _import_from,
    gast.Pass: lambda node: ("pass", "", ""),
    gast.Break: lambda node: ("break", "", ""),
    gast.Continue: lambda node: ("continue", "", ""),
    gast.Global: lambda node: ("global ", ", ".join(node.names), ""),
    gast.Nonlocal: lambda node: ("nonlocal ", ", ".join(node.names), ""),
}


__all__ = ["Blank", "Comment", "Verbatim", "expression", "function", "placed_lines", "statement"]

STEP = 4


class Comment(str):
    """Value of a constant that stands for a comment: `Expr(Constant(Comment("# why")))`."""

    __slots__ = ()


class Blank(str):
    """Value of a constant that stands for an empty line."""

    __slots__ = ()


class Verbatim(str):
    """Value of a constant that stands for lines of text, printed as they are at the indentation."""

    __slots__ = ()


def function(node: gast.AST, width: int = 88) -> str:
    """Text of a function, with a line break at its end.

    >>> import gast
    >>> print(function(gast.parse("def f(x, *, n=1): return (x*x)+n").body[0]), end="")
    def f(x, *, n=1):
        return x * x + n
    """
    return "\n".join(statement(node, 0, width)) + "\n"


def placed_lines(node: gast.AST, width: int = 88) -> list[tuple[str, gast.AST | None]]:
    """The lines of a function, each with the innermost statement that it is of; None for lines between statements.

    >>> import gast
    >>> [(line, node.lineno) for line, node in placed_lines(gast.parse("def f(x):\\n  if x:\\n    return x").body[0])]
    [('def f(x):', 1), ('    if x:', 2), ('        return x', 3)]
    """
    lines = _PlacedLines()
    _statement(node, lines, 0, width)
    return [(line, lines.nodes.get(number)) for number, line in enumerate(lines)]


class _PlacedLines(list[str]):
    """Lines, of which is known from which statement each is."""

    def __init__(self) -> None:
        super().__init__()
        self.nodes: dict[int, gast.AST] = {}

    def insert(self, index: SupportsIndex, line: str) -> None:
        """An empty line above those that are there."""
        at = int(index)
        self.nodes = {number + (number >= at): node for number, node in self.nodes.items()}
        super().insert(at, line)

    def note(self, start: int, node: gast.AST) -> None:
        """The lines from `start` on are of a statement, unless they are of one inside."""
        for number in range(start, len(self)):
            self.nodes.setdefault(number, node)


def statement(node: gast.AST, indent: int = 0, width: int = 88) -> list[str]:
    """Lines of a statement and of the statements in it, wrapped at `width` columns.

    `indent` is the number of blanks in front of each line.

    >>> import gast
    >>> statement(gast.parse("while (x>1): x/=2").body[0])
    ['while x > 1:', '    x /= 2']
    """
    lines: list[str] = []
    _statement(node, lines, indent, width)
    return lines


def _statement(node: gast.AST, lines: list[str], indent: int, width: int) -> None:
    start = len(lines)
    _print(node, lines, indent, width)
    if isinstance(lines, _PlacedLines):
        lines.note(start, node)


def _print(node: gast.AST, lines: list[str], indent: int, width: int) -> None:
    compound = COMPOUND.get(type(node))
    if compound is not None:
        compound(node, lines, indent, width)
        return
    simple = PRINTED.get(type(node))
    if simple is None:
        lines += _by_astor(node, indent)
    elif isinstance(node, gast.Expr) and isinstance(node.value, gast.Constant) and type(node.value.value) in SPECIAL:
        _add_special_line(node.value.value, lines, indent, width)
    else:
        head, text, tail = simple(node)
        _line(lines, head, text, tail, indent=indent, width=width)


def _line(lines: list[str], head: str, text: str, tail: str, *, indent: int, width: int) -> None:
    """Add `head + text + tail`, on more than one line if one is too short."""
    if indent + len(head) + len(text) + len(tail) <= width:
        lines.append(" " * indent + head + text + tail)
    else:
        lines += wrap(head, text, tail, indent=indent, width=width)


def _add_special_line(value: str, lines: list[str], indent: int, width: int) -> None:
    """A comment, user's text, or an empty line, of which there are never two together."""
    margin = " " * indent
    if isinstance(value, Comment):
        text, room = margin + value, max(width, indent + len("# line 10000: ..."))
        lines.append(text if len(text) <= room else text[: room - 3].rstrip() + "...")
    elif isinstance(value, Verbatim):
        lines += [margin + line if line.strip() else "" for line in value.split("\n")]
    elif not lines or lines[-1]:
        lines.append("")


SPECIAL = (Blank, Comment, Verbatim)
BLOCKS = (gast.If, gast.For, gast.While, gast.With)
IMPORTS = (gast.Import, gast.ImportFrom)


def _body(body: Sequence[gast.AST], lines: list[str], indent: int, width: int) -> None:
    """The statements of a block; `pass` is added where all of them are comments."""
    start = len(lines)
    previous: gast.AST | None = None
    for node in body:
        if _wants_gap(previous, node):
            _add_gap(lines, start)
        _statement(node, lines, indent, width)
        previous = node
    if all(not line or line.lstrip().startswith("#") for line in lines[start:]):
        lines.append(" " * indent + "pass")


def _wants_gap(previous: gast.AST | None, node: gast.AST) -> bool:
    """Whether black has an empty line there: around inner functions, and behind imports."""
    if isinstance(node, gast.FunctionDef):
        return True
    if isinstance(previous, IMPORTS):
        return not isinstance(node, IMPORTS)
    while isinstance(previous, BLOCKS):
        previous = (getattr(previous, "orelse", None) or previous.body or [None])[-1]
    return isinstance(previous, gast.FunctionDef)


def _add_gap(lines: list[str], start: int) -> None:
    """Add an empty line, above the comments at the end of the block that begins at `start`."""
    at = len(lines)
    while at > start and lines[at - 1].lstrip().startswith("#"):
        at -= 1
    above = lines[at - 1].lstrip()
    if above and not (at == start and above.startswith(("def ", ")"))):
        lines.insert(at, "")


def _function(node: gast.AST, lines: list[str], indent: int, width: int) -> None:
    for decorator in node.decorator_list:
        _line(lines, "@", expression(decorator, NAMED), "", indent=indent, width=width)
    returns = "" if node.returns is None else f" -> {expression(node.returns)}"
    head, tail = f"def {node.name}", f"{returns}:"
    lines += wrap_definition(head, parameters(node.args), tail, indent=indent, width=width)
    body = node.body
    first = body[0].value if body and isinstance(body[0], gast.Expr) else None
    if isinstance(first, gast.Constant) and type(first.value) is str:
        lines += (" " * (indent + STEP) + docstring(first.value)).split("\n")
        body = body[1:]
        if not body:
            return
    _body(body, lines, indent + STEP, width)


def _if(node: gast.AST, lines: list[str], indent: int, width: int) -> None:
    word = "if "
    while True:
        start = len(lines)
        _line(lines, word, expression(node.test, NAMED), ":", indent=indent, width=width)
        if isinstance(lines, _PlacedLines):
            lines.note(start, node)  # an `elif` is a statement of its own
        _body(node.body, lines, indent + STEP, width)
        if len(node.orelse) != 1 or not isinstance(node.orelse[0], gast.If):
            break
        node, word = node.orelse[0], "elif "
    _tail("else:", node.orelse, lines, indent, width)


def _tail(word: str, body: Sequence[gast.AST], lines: list[str], indent: int, width: int) -> None:
    if body:
        lines.append(" " * indent + word)
        _body(body, lines, indent + STEP, width)


def _for(node: gast.AST, lines: list[str], indent: int, width: int) -> None:
    head = f"for {expression(node.target, BARE)} in "
    _line(lines, head, expression(node.iter), ":", indent=indent, width=width)
    _body(node.body, lines, indent + STEP, width)
    _tail("else:", node.orelse, lines, indent, width)


def _while(node: gast.AST, lines: list[str], indent: int, width: int) -> None:
    _line(lines, "while ", expression(node.test, NAMED), ":", indent=indent, width=width)
    _body(node.body, lines, indent + STEP, width)
    _tail("else:", node.orelse, lines, indent, width)


def _with(node: gast.AST, lines: list[str], indent: int, width: int) -> None:
    items = []
    for item in node.items:
        variables = item.optional_vars
        text = expression(item.context_expr)
        items.append(text if variables is None else f"{text} as {expression(variables)}")
    _line(lines, "with ", ", ".join(items), ":", indent=indent, width=width)
    _body(node.body, lines, indent + STEP, width)


def _try(node: gast.AST, lines: list[str], indent: int, width: int) -> None:
    _tail("try:", node.body, lines, indent, width)
    for handler in node.handlers:
        kind = "" if handler.type is None else f" {expression(handler.type)}"
        name = "" if handler.name is None else f" as {handler.name.id}"
        _tail(f"except{kind}{name}:", handler.body, lines, indent, width)
    _tail("else:", node.orelse, lines, indent, width)
    _tail("finally:", node.finalbody, lines, indent, width)


COMPOUND: dict[type, Callable[[gast.AST, list[str], int, int], None]] = {
    gast.FunctionDef: _function,
    gast.If: _if,
    gast.For: _for,
    gast.While: _while,
    gast.With: _with,
    gast.Try: _try,
}


def _by_astor(node: gast.AST, indent: int) -> list[str]:
    """A class or an async statement; astor still imports names that Python 3.13 warns about."""
    if not isinstance(node, ASTOR_KINDS):
        kind = type(node).__name__
        message = f"a {kind} node cannot be printed"
        raise DifferentiationError("E5005", message, "leave it out of the differentiated function")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import astor

        text = astor.to_source(gast.gast_to_ast(node), indent_with=" " * STEP)
    return [" " * indent + line if line else "" for line in text.rstrip("\n").split("\n")]


ASTOR_KINDS = (gast.ClassDef, gast.AsyncFunctionDef, gast.AsyncFor, gast.AsyncWith)

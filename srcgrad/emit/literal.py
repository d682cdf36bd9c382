"""Text of constants: numbers that come back bit for bit, and strings in double quotes."""

from __future__ import annotations

import math


def literal(value: object) -> str:
    """Text of a constant.

    >>> literal(0.00001), literal(float("-inf")), literal('say "hi"'), literal("it's"), literal(...)
    ('1e-05', '-float("inf")', '\\'say "hi"\\'', '"it\\'s"', '...')
    """
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bytes):
        return "b" + _double(repr(bytes(value))[1:])
    if value is ...:
        return "..."
    if isinstance(value, float):
        return _real(value)
    if isinstance(value, complex):
        return _complex(value)
    return repr(value)


def quoted(value: str) -> str:
    """The string in double quotes, or in single quotes where those need fewer backslashes."""
    return _double(str.__repr__(value))


def body_in(value: str, quote: str) -> str:
    """The characters of the string, escaped so that they can stand between the given quotes."""
    text = str.__repr__(value)
    inner = text[1:-1]
    if text[0] == "'":
        inner = inner.replace("\\'", "'")
    return inner.replace(quote[0], "\\" + quote[0])


def _double(text: str) -> str:
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


def formatted(parts: list[tuple[str, bool]]) -> str:
    """An f-string of characters (False) and fields with their braces (True).

    No field contains the quotes: before Python 3.12 it may not.

    >>> print(formatted([("loss ", False), ('{d["loss"]}', True)]))
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


def _real(value: float) -> str:
    """A float; `float.__repr__` because a NumPy scalar is a float with a repr of its own."""
    if math.isfinite(value):
        return float.__repr__(value).replace("e+", "e")
    if math.isnan(value):
        return 'float("nan")'
    return 'float("inf")' if value > 0 else '-float("inf")'


def _complex(value: complex) -> str:
    """`2j`, or `complex(...)` for what no literal can spell."""
    positive = all(math.copysign(1.0, part) > 0 for part in (value.real, value.imag))
    if value.real == 0 and positive and math.isfinite(value.imag):
        return complex.__repr__(complex(value))
    return f"complex({_real(value.real)}, {_real(value.imag)})"


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

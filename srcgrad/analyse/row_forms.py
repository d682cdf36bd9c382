"""Where the rows lie among the axes of a value: what elementwise operations, reductions and products make of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

ROWS = "rows"  # the length of the axis along which the rows of the blocked arguments lie
Axes = tuple[str, ...]


@dataclass(frozen=True)
class Form:
    """The axes of a value, each as the text of its length, "1", "?" or ROWS; None where the rank is unknown.

    `total` is sum or mean for what a reduction over the rows makes; `late` says that a total is needed to compute it.
    """

    axes: Axes | None = None
    total: str = ""
    late: bool = False

    @property
    def row(self) -> int | None:
        """The axis along which the rows lie; None if the value does not depend on them."""
        return self.axes.index(ROWS) if self.axes is not None and ROWS in self.axes else None


class UnprovedError(Exception):
    """Why it cannot be proved that an operation treats each row by itself."""


def joined(forms: Sequence[Form]) -> Form:
    """The axes that broadcasting makes: rows meet rows, or axes of length 1.

    >>> joined([Form(("rows", "d")), Form(("d",))]).axes
    ('rows', 'd')
    >>> joined([Form(("1", "rows", "d")), Form(("K", "1", "?"))]).axes
    ('K', 'rows', 'd')
    """
    if any(form.axes is None for form in forms):
        if any(form.row is not None for form in forms):
            raise UnprovedError("the rank of an operand is not known")
        return Form()
    ranks = [len(form.axes or ()) for form in forms]
    made: list[str] = []
    for place in range(-max(ranks, default=0), 0):
        made.append(_met([form.axes[place] for form in forms if form.axes is not None and len(form.axes) >= -place]))
    if made.count(ROWS) > 1:
        raise UnprovedError("rows meet rows along two axes")
    return Form(tuple(made))


def _met(lengths: list[str]) -> str:
    """The length of an axis of the result."""
    others = [length for length in lengths if length not in ("1", ROWS)]
    if ROWS in lengths:
        if others:
            raise UnprovedError(
                f"an axis of length {others[0]} meets the rows, and may be one of them or have their number"
            )
        return ROWS
    known = [length for length in others if length != "?"]
    return known[0] if known else others[0] if others else "1"


def reduced(form: Form, axis: object, keeps: bool, adds: str) -> Form:
    """What a reduction over `axis` (None, a number, a tuple) leaves; `adds` is sum or mean if it adds up.

    >>> reduced(Form(("rows", "K")), 1, False, "").axes, reduced(Form(("rows", "K")), 0, False, "sum")
    (('rows',), Form(axes=('K',), total='sum', late=False))
    """
    if form.axes is None:
        return Form(() if axis is None and not keeps else None)
    gone = places(axis, len(form.axes))
    if gone is None:
        if form.row is not None:
            raise UnprovedError("the axis is no literal")
        return Form()
    left = [("1" if k in gone else one) for k, one in enumerate(form.axes) if keeps or k not in gone]
    if form.row not in gone:
        return Form(tuple(left))
    if not adds:
        raise UnprovedError("it runs over the rows, and is neither a sum nor a mean")
    return Form(tuple(left), adds)


def places(axis: object, rank: int) -> tuple[int, ...] | None:
    """The axes that `axis=` means; None if that is not known."""
    if axis is None:
        return tuple(range(rank))
    listed = axis if isinstance(axis, tuple) else (axis,)
    if not all(isinstance(k, int) and -rank <= k < rank for k in listed):
        return None
    return tuple(k % rank for k in listed)


def product(one: Form, two: Form) -> Form:
    """The axes of `a @ b`; a product along the rows is a sum over them.

    >>> product(Form(("rows", "d")), Form(("d", "k"))).axes
    ('rows', 'k')
    >>> product(Form(("d", "rows")), Form(("rows",)))
    Form(axes=('d',), total='sum', late=False)
    """
    if one.axes is None or two.axes is None:
        if one.row is not None or two.row is not None:
            raise UnprovedError("the rank of a factor is not known")
        return Form()
    if not one.axes or not two.axes:
        return Form()
    left, right = one.axes, two.axes
    inner = (left[-1], right[-2] if len(right) > 1 else right[0])
    if (inner[0] == ROWS) != (inner[1] == ROWS):
        raise UnprovedError("the rows are multiplied with what is not known to have their number")
    stacks = joined([Form(left[:-2]), Form(right[:-2])]).axes or ()
    made = (*stacks, *(left[-2:-1] if len(left) > 1 else ()), *(right[-1:] if len(right) > 1 else ()))
    if made.count(ROWS) > 1 or (inner[0] == ROWS and ROWS in made):
        raise UnprovedError("rows meet rows along two axes")
    return Form(made, "sum" if inner[0] == ROWS else "")


def summation(subscripts: str, forms: Sequence[Form]) -> Form:
    """The axes of `np.einsum(subscripts, ...)`.

    >>> summation("ni,ij->nj", [Form(("rows", "d")), Form(("d", "k"))]).axes
    ('rows', 'k')
    """
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if not arrow or "." in subscripts or len(terms) != len(forms):
        raise UnprovedError("the subscripts have an ellipsis, or do not name the output")
    lengths: dict[str, str] = {}
    for term, form in zip(terms, forms, strict=True):
        if form.axes is None or len(form.axes) != len(term):
            raise UnprovedError("the rank of an operand is not known")
        for letter, length in zip(term, form.axes, strict=True):
            known = lengths.setdefault(letter, length)
            if ROWS in (known, length) and known != length:
                raise UnprovedError("the rows are multiplied with what is not known to have their number")
    rows = [letter for letter, length in lengths.items() if length == ROWS]
    if len(rows) > 1:
        raise UnprovedError("rows meet rows along two axes")
    return Form(tuple(lengths[letter] for letter in output), "sum" if rows and rows[0] not in output else "")


def part(form: Form, index: Sequence[object], gathered: Callable[[object], Form | None]) -> Form:
    """The axes of `x[index]`: each part is slice, None, Ellipsis, int, a literal slice as its text, or an operand.

    `gathered` gives the form of an array that stands as an index; None for a single integer.
    """
    if form.axes is None:
        raise UnprovedError("the rank of the array is not known")
    used = sum(one is not None and one is not Ellipsis for one in index)
    expanded: list[object] = []
    for one in [*index, *([] if Ellipsis in index else [Ellipsis])]:
        expanded += [slice(None)] * (len(form.axes) - used) if one is Ellipsis else [one]
    made: list[str] = []
    axis, arrays = 0, 0
    for one in expanded:
        if one is None:
            made.append("1")
            continue
        length, axis = form.axes[axis], axis + 1
        if isinstance(one, slice):
            made.append(length)
            continue
        if length == ROWS:
            raise UnprovedError("it takes some of the rows")
        if isinstance(one, str):  # a slice with bounds
            made.append("?")
            continue
        found = gathered(one)
        if found is not None:
            arrays += 1
            if found.axes is None or arrays > 1 or any(isinstance(k, int) for k in expanded):
                raise UnprovedError("the places that it takes are not known")
            made += found.axes
    if made.count(ROWS) > 1:
        raise UnprovedError("rows meet rows along two axes")
    return Form(tuple(made))

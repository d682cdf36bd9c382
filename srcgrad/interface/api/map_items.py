"""`each(f)`: a function of one item, mapped over many: its values, and of its Jacobian the blocks that are not zero.

Its text is a loop over items, with one call of the derivative, and of its pullback, for each.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any  # signatures hold arbitrary defaults

import numpy as np

from srcgrad.backend.numba.map_items import ItemArguments, Items
from srcgrad.backend.targets import target_named
from srcgrad.backend.text.definitions import Import, OutputFunction
from srcgrad.backend.text.module import OutputParts, body, gap, header, identifiers, import_lines, write
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import Kind, Names
from srcgrad.core.identity import Function, record
from srcgrad.core.source_text import hides_our_frames
from srcgrad.core.target import DEFAULT, Target, Text
from srcgrad.interface.api.derivative import AnyDerivative, Derivative, Wrt
from srcgrad.interface.api.derivatives import chosen_wrt
from srcgrad.interface.api.execute import changes, run
from srcgrad.module import Module

OTHER = "E5014 an argument has another shape than those that this text was made for"
LOST = "E5026 an item raised an error, which parallel loops lose; call it with target='numpy' to see it"


@record
class Loop:
    """What the text is made from; `shape` are the lengths of a value, `kind` whether it is a number, tuple or array.

    `pull` is the name of the derivative of one item. Compiled, it takes more than the item, `taken`, and gives no
    pullback; `lengths` are those of the axes of an item's arguments, where the text was made for them.
    """

    name: str
    signature: Any
    ranks: dict[str, int]
    shared: tuple[str, ...]
    wrt: tuple[str, ...]
    kind: str
    shape: tuple[int, ...]
    pull: str
    taken: ItemArguments | None
    lengths: Mapping[str, tuple[int, ...]] | None
    np: str
    names: Names
    range: str = "range"
    decorator: str = ""
    bars: dict[str, str] = field(default_factory=dict)

    def text(self) -> str:
        """The definition."""
        self.i, self.y, self.count = (self.names.fresh(name) for name in ("i", "y", "count"))
        self.bars = {w: self.names.fresh(f"{w}_blocks") for w in self.wrt}
        first = next(name for name in self.signature.parameters if name not in self.shared)
        lines = [f"{self.count} = len({first})", *self._check()]
        lines += [f"{self.y} = {self.np}.empty({self._lengths(self.shape)})"]
        made = "empty" if self.taken else "zeros"
        lines += [f"{self.bars[w]} = {self.np}.{made}({self._block(w)})" for w in self.wrt]
        whole = self.kind == "array"
        if whole:
            self.seeds_name, self.k = self.names.fresh("seeds"), self.names.fresh("k") if not self.taken else ""
            lines.append(f"{self.seeds_name} = {self.np}.eye({self._size()}){self._reshape_call()}")
        parallel = self.range != "range"
        done = self.names.fresh("done") if parallel else ""
        lines += [f"{done} = 0"] if parallel else []
        lines.append(f"for {self.i} in {self.range}({self.count}):")
        lines += [f"    {line}" for line in [*self._item(), *([f"{done} += 1"] if parallel else [])]]
        lines += [f"if {done} != {self.count}:", f"    raise ValueError({LOST!r})"] if parallel else []
        results = ", ".join(self._result(w) for w in self.wrt)
        lines.append(f"return {self.y}, ({results}{',' if len(self.wrt) == 1 else ''})")
        wrt = ", ".join(self.wrt)
        doc = f'"""Values of one item after the other, and the blocks of the Jacobian with respect to {wrt}."""'
        head = f"{self.decorator}def {self.name}{self._parameters()}:"
        return "\n".join([head, *(f"    {line}" for line in [doc, *lines])])

    def _check(self) -> list[str]:
        """Whether the arguments have the shapes that were assumed."""
        if self.lengths is None:
            return []
        items = {name: (self.count, *known) for name, known in self.lengths.items() if name not in self.shared}
        whole = {name: known for name, known in self.lengths.items() if name in self.shared and known}
        wrong = " or ".join(f"{name}.shape != {_tuple(shape)}" for name, shape in (items | whole).items())
        return [f"if {wrong}:", f"    raise ValueError({OTHER!r})"]

    def _size(self) -> int:
        size = 1
        for length in self.shape:
            size *= length
        return size

    def _lengths(self, shape: tuple[int, ...]) -> str:
        return f"({', '.join([self.count, *map(str, shape)])})" if shape else self.count

    def _block(self, wanted: str) -> str:
        """Items, parts of the value, and the axes of the argument."""
        parts = [str(self._size())] if self.kind != "number" else []
        axes = [f"{wanted}.shape[{k + 1}]" for k in range(self.ranks[wanted])]
        inner = ", ".join([self.count, *parts, *axes])
        return f"({inner}), {wanted}.dtype" if parts or axes else f"{self.count}, {wanted}.dtype"

    def _reshape_call(self) -> str:
        return "" if len(self.shape) == 1 else f".reshape({', '.join(map(str, (self._size(), *self.shape)))})"

    def _result(self, wanted: str) -> str:
        if len(self.shape) < 2:
            return self.bars[wanted]
        axes = [f"{wanted}.shape[{k + 1}]" for k in range(self.ranks[wanted])]
        return f"{self.bars[wanted]}.reshape({', '.join([self.count, *map(str, self.shape), *axes])})"

    def _parameters(self) -> str:
        plain = [p.replace(annotation=p.empty, default=p.empty) for p in self.signature.parameters.values()]
        return str(self.signature.replace(parameters=plain, return_annotation=self.signature.empty))

    def _arguments(self) -> str:
        made = []
        for parameter in self.signature.parameters.values():
            value = parameter.name if parameter.name in self.shared else f"{parameter.name}[{self.i}]"
            named = parameter.kind is parameter.KEYWORD_ONLY and self.taken is None
            made.append(f"{parameter.name}={value}" if named else value)
        return ", ".join(made)

    def _item(self) -> list[str]:
        """The statements for one item."""
        if self.taken is not None:
            return self._derivative_calls(self.taken)
        self.back = self.names.fresh("back")
        value = f"({self._value()})" if self.kind == "tuple" else self._value()
        lines = [f"{value}, {self.back} = {self.pull}({self._arguments()})"]
        if self.kind == "number":
            return [*lines, self._part("1.0", self.i)]
        if self.kind == "array":
            inner = self._part(f"{self.seeds_name}[{self.k}]", f"{self.i}, {self.k}")
            return [*lines, f"for {self.k} in range({self._size()}):", f"    {inner}"]
        size = self._size()
        for k in range(size):
            seed = ", ".join("1.0" if k == j else "0.0" for j in range(size))
            lines.append(self._part(f"({seed}{',' if size == 1 else ''})", f"{self.i}, {k}"))
        return lines

    def _value(self) -> str:
        """Where the value of an item is kept."""
        if self.kind != "tuple":
            return f"{self.y}[{self.i}]"
        return ", ".join(f"{self.y}[{self.i}, {k}]" for k in range(self._size())) + ("," if self.shape == (1,) else "")

    def _part(self, seed: str, place: str) -> str:
        """The derivative of one part of the value."""
        return f"{', '.join(f'{self.bars[w]}[{place}]' for w in self.wrt)} = {self.back}({seed})"

    def _derivative_calls(self, taken: ItemArguments) -> list[str]:
        """The call of a derivative that fills blocks; one for each part of the value, if it fills rows of them."""
        row = self.names.fresh("k") if taken.row else ""
        place = f"[{self.i}, {row}]" if row else f"[{self.i}]"
        given = [self._arguments(), *([row] if row else []), *([self.seeds_name] if taken.seeds else [])]
        given += [f"{self.bars[w]}{place}" for w in taken.blocks]
        others = [f"{self.bars[w]}{place}" for w in self.wrt if w not in taken.blocks]
        value = f"({self._value()})" if others and self.kind == "tuple" else self._value()
        call = f"{', '.join([value, *others])} = {self.pull}({', '.join(given)})"
        return [f"for {row} in range({self._size()}):", f"    {call}"] if row else [call]


def _tuple(parts: tuple[object, ...]) -> str:
    return f"({', '.join(map(str, parts))}{',' if len(parts) == 1 else ''})"


@record(frozen=True)
class Shape:
    """What a function returns for one item: a number, a tuple of numbers, or an array."""

    kind: str  # number, tuple or array
    lengths: tuple[int, ...] = ()

    @staticmethod
    def of(value: Any) -> Shape:
        """The shape of a value; E5017 for any other than real numbers, arrays of them and tuples of numbers."""
        parts = value if isinstance(value, tuple | list) else (value,)
        real = all(np.asarray(part).dtype.kind == "f" for part in parts)
        flat = not isinstance(value, tuple | list) or all(np.ndim(part) == 0 for part in parts)
        if not real or not flat or isinstance(value, list):
            raise DifferentiationError(
                "E5017",
                "an item gives no real number, no array and no tuple of numbers",
                "return one of them",
            )
        if isinstance(value, tuple):
            return Shape("tuple", (len(value),))
        return Shape("array", np.shape(value)) if np.ndim(value) else Shape("number")

    @property
    def places(self) -> list[tuple[int, ...]]:
        """The indices of all parts of the value."""
        return list(np.ndindex(self.lengths))


def items_function(
    module: Module, derivative: Derivative[..., object], kinds: dict[str, Kind], shape: Shape, shared: tuple[str, ...]
) -> tuple[Function, str]:
    """The function that goes over the items, executed, and its text."""
    of_one = module.derivative(derivative.primal, derivative.mode, derivative.wrt, dict(kinds), None, True)
    main = next(made for made in module.made.values() if made.name == of_one)
    found = write(module.pieces(list(module.made.values()), None))
    taken = Names(sorted({*_words(found), *derivative.signature.parameters}))
    imported = {word.strip(",") for line in found.imports for word in line.split()} & {"np", "njit", "prange"}
    taken.taken -= imported - set(derivative.signature.parameters)
    library, given = taken.fresh("np"), module.given_of.get(main.facts.source.name)
    spelled = module.target.parallel and module.target.parallel(taken, given is not None and given.inside)
    loop = Loop(
        name=taken.fresh(f"{main.facts.source.name}_each"),
        signature=derivative.signature,
        ranks={w: kinds[w].ndim or 0 for w in derivative.wrt},
        shared=shared,
        wrt=derivative.wrt,
        kind=shape.kind,
        shape=shape.lengths,
        pull=of_one,
        taken=given,
        lengths=module.given.lengths if spelled else None,
        np=library,
        names=taken,
    )
    imports = {*found.imports, Import("numpy").line(library)}
    if spelled:
        loop.decorator, loop.range = spelled.decorator, spelled.range
        imports |= spelled.imports
    texts = [*found.texts, (OutputFunction(loop.name), loop.text())]
    text = "\n".join([header(main.facts), *import_lines(imports), gap(texts), body(texts, {}), ""])
    label = f"{loop.name} of {main.facts.source.file}:{main.facts.source.first}"
    trees = [made.tree for made in module.made.values()]
    made = module.target.compile(Text(text, loop.name, label, dict(found.outside), trees))
    return module.target.boundary(made, None), text


def _words(found: OutputParts) -> frozenset[str]:
    """Every word of the texts, and what they read from outside."""
    return frozenset(found.outside).union(*(identifiers(text) for _, text in found.texts))


@record(frozen=True)
class ItemsText:
    """One text, executed, and a test that tells whether it is out of date."""

    function: Function
    text: str
    stale: Callable[[], bool]


SMALL = 64  # elements up to which the text for a compiled loop says how long an array of an item is


def small_shapes(item: dict[str, object]) -> dict[str, tuple[int, ...]] | None:
    """The lengths of the axes of what an item's arguments are, if all arrays are small; None otherwise."""
    shapes = {name: value.shape for name, value in item.items() if isinstance(value, np.ndarray | np.generic)}
    return shapes if all(math.prod(shape) <= SMALL for shape in shapes.values()) else None


def copy_of_array(value: object) -> object:
    """A copy of an array: a function may write into its arguments."""
    return value.copy() if isinstance(value, np.ndarray) else value


class ItemMap:
    """Values and blocks of the Jacobian, for all items: call it like the function, with an axis of items in front."""

    def __init__(self, function: Callable[..., object], wrt: Wrt, shared: Sequence[str], target: str | Target) -> None:
        self.function, self.target = function, target_named(target)
        self.single = not isinstance(wrt, tuple)
        self.derivative: AnyDerivative = Derivative(function, "vjp", wrt, False, target)
        self.shared = tuple(shared)
        names = list(self.derivative.signature.parameters)
        wrong = [name for name in self.shared if name not in names or name in self.derivative.wrt]
        if self.target.no_items:
            raise DifferentiationError("E5019", self.target.no_items, "name numpy or numba")
        if wrong:
            what = f"{wrong[0]!r} is no shared parameter"
            raise DifferentiationError("E5009", what, "name parameters of which nothing is differentiated")
        self.__name__ = f"{self.derivative.primal.__name__}_each"
        self._made: dict[object, ItemsText] = {}
        self._last: ItemsText | None = None

    @hides_our_frames
    def __call__(self, *args: object, **kwargs: object) -> Any:
        bound = self.derivative.signature.bind(*self.derivative.bound, *args, **kwargs)
        bound.apply_defaults()
        values = list(bound.arguments.values())
        names = list(self.derivative.signature.parameters)
        several = [name not in self.shared for name in names]
        count = self._count(dict(zip(names, values, strict=True)))
        values = [np.asarray(v) if many else v for v, many in zip(values, several, strict=True)]
        first = [copy_of_array(v[0] if many else v) for v, many in zip(values, several, strict=True)]
        kinds = self.derivative.kinds(first)
        shape = Shape.of(run(self.function, first, self.derivative.named))
        lengths = small_shapes(dict(zip(names, first, strict=True))) if self.target.parallel else None
        made = self._items_text(kinds, shape, lengths)
        found = run(made.function, values, self.derivative.named)
        y, blocks = found
        self._last = made
        assert len(y) == count, "the text goes over all items"
        return y, blocks[0] if self.single else blocks

    def _count(self, values: dict[str, Any]) -> int:
        """How many items there are; E5014 where arguments differ, or where there are none."""
        several = {name: np.shape(value) for name, value in values.items() if name not in self.shared}
        lengths = {name: shape[0] if shape else None for name, shape in several.items()}
        [first, *_] = lengths or {"": None}
        wrong = next((n for n, length in lengths.items() if length is None or length != lengths[first]), None)
        if wrong is not None or not lengths[first]:
            name, due = wrong or first, lengths[first] or "some"
            raise DifferentiationError(
                "E5014",
                f"`{name}` has shape {several[name]}, without an axis of {due} items" if name else "nothing has items",
                f"give every argument the same number of items, at least one, or name it: shared=({name!r},)",
            )
        return int(lengths[first] or 0)

    def _items_text(
        self, kinds: dict[str, Kind], shape: Shape, lengths: dict[str, tuple[int, ...]] | None
    ) -> ItemsText:
        key = (shape, *kinds.items(), None if lengths is None else tuple(lengths.items()))
        made = self._made.get(key)
        if made is None or made.stale():
            given = Items(shape.kind, len(shape.places), lengths) if self.target.parallel else None
            module = Module(self.target.whole, False, self.target, given=given)
            function, text = items_function(module, self.derivative, kinds, shape, self.shared)
            made = self._made[key] = ItemsText(function, text, changes(module))
        return made

    @property
    def source(self) -> str:
        """The text that the last call ran; E5014 before the first, which tells what an item is."""
        if self._last is None:
            raise DifferentiationError("E5014", "what an item is, a call tells", "call it first")
        return self._last.text

    @property
    def njit(self) -> Any:
        """With `target="numba"` what `numba.njit` made of the text of the last call: compiled code may call it."""
        found = None if self._last is None else getattr(self._last.function, "__srcgrad_compiled__", None)
        if found is None:
            raise DifferentiationError("E5019", "there is compiled code with the target numba, after a call", "name it")
        return found

    @property
    def __signature__(self) -> inspect.Signature:
        return self.derivative.__signature__

    def __repr__(self) -> str:
        return f"<srcgrad each of {self.__name__} with respect to {', '.join(self.derivative.wrt)}>"


def each(
    function: Callable[..., object],
    wrt: Wrt = 0,
    *,
    argnums: Wrt | None = None,
    shared: Sequence[str] | str = (),
    target: str | Target = DEFAULT,
) -> ItemMap:
    """Values and derivatives of a function of one item, for many items: `y, blocks = each(f)(xs)`.

    Arguments have an axis of items in front, those named in `shared` apart, which all items see. `y[i]` is the
    function's value for item i, and `blocks[i]` its derivative by that item's argument, of the value's shape and then
    the argument's; a tuple of such arrays if `wrt` is one. They are the blocks of the Jacobian of all items that are
    not zero. The function returns a number, an array, or a tuple of numbers, of one shape for all items.
    With `target="numba"` the items run in parallel, as compiled code.

    Errors: E5014 where arguments differ in their number of items, or have none; E5009 for a name in `shared` that is
    no parameter, or in `wrt` as well; those of `grad`.

    >>> import numpy as np
    >>> import srcgrad
    >>> def polar(x):
    ...     return np.array([x[0] * x[1], x[0] + x[1]])
    >>> y, blocks = srcgrad.each(polar)(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> y.tolist(), blocks.shape, blocks[1].tolist()
    ([[2.0, 3.0], [12.0, 7.0]], (2, 2, 2), [[4.0, 3.0], [1.0, 1.0]])
    """
    names = (shared,) if isinstance(shared, str) else tuple(shared)
    return ItemMap(function, chosen_wrt(function, wrt, argnums), names, target)

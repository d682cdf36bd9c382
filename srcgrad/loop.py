"""The function that goes over items, as text: for each item one call of the derivative, and of its pullback."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any  # signatures hold arbitrary defaults

from srcgrad.names import Names
from srcgrad.numba.given import Taken

OTHER = "E5014 an argument has another shape than those that this text was made for"
LOST = "E5026 an item raised an error, which parallel loops lose; call it with target='numpy' to see it"


@dataclass
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
    taken: Taken | None
    lengths: Mapping[str, tuple[int, ...]] | None
    np: str
    names: Names
    prange: str = "range"
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
            lines.append(f"{self.seeds_name} = {self.np}.eye({self._size()}){self._reshaped()}")
        parallel = self.prange != "range"
        done = self.names.fresh("done") if parallel else ""
        lines += [f"{done} = 0"] if parallel else []
        lines.append(f"for {self.i} in {self.prange}({self.count}):")
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

    def _reshaped(self) -> str:
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
            return self._compiled(self.taken)
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

    def _compiled(self, taken: Taken) -> list[str]:
        """The call of a derivative that fills blocks; one for each part of the value, if it fills rows of them."""
        row = self.names.fresh("k") if taken.row else ""
        place = f"[{self.i}, {row}]" if row else f"[{self.i}]"
        given = [self._arguments(), *([row] if row else []), *([self.seeds_name] if taken.seeds else [])]
        given += [f"{self.bars[w]}{place}" for w in taken.blocks]
        others = [f"{self.bars[w]}{place}" for w in self.wrt if w not in taken.blocks]
        value = f"({self._value()})" if others and self.kind == "tuple" else self._value()
        call = f"{', '.join([value, *others])} = {self.pull}({', '.join(given)})"
        return [f"for {row} in range({self._size()}):", f"    {call}"] if row else [call]


def _tuple(parts: tuple[Any, ...]) -> str:
    return f"({', '.join(map(str, parts))}{',' if len(parts) == 1 else ''})"

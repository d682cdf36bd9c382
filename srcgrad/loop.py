"""The function that goes over items, as text: one call of the value and the pullback for each part of each value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any  # signatures hold arbitrary defaults

from srcgrad.names import Names

LOST = "E5026 an item raised an error, which parallel loops lose; call it with target='numpy' to see it"


@dataclass
class Loop:
    """What the text is made from; `shape` are the lengths of a value, `kind` whether it is a number, tuple or array.

    `pull` is the name of the derivative of one item, `value` that of the function where the derivative does not give
    it as well, `given` the arguments whose blocks the derivative adds to, in arrays that it is given.
    """

    name: str
    signature: Any
    ranks: dict[str, int]
    shared: tuple[str, ...]
    wrt: tuple[str, ...]
    kind: str
    shape: tuple[int, ...]
    pull: str
    value: str
    given: tuple[str, ...]
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
        lines = [f"{self.count} = len({first})", f"{self.y} = {self.np}.empty({self._lengths(self.shape)})"]
        lines += [f"{self.bars[w]} = {self.np}.zeros({self._block(w)})" for w in self.wrt]
        whole = self.kind == "array"
        if whole:
            self.seeds_name, self.k = self.names.fresh("seeds"), self.names.fresh("k")
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
            named = parameter.kind is parameter.KEYWORD_ONLY and not self.value
            made.append(f"{parameter.name}={value}" if named else value)
        return ", ".join(made)

    def _item(self) -> list[str]:
        """The statements for one item."""
        places = ", ".join(f"{self.y}[{self.i}, {k}]" for k in range(self._size()))
        value = places + ("," if self.shape == (1,) else "") if self.kind == "tuple" else f"{self.y}[{self.i}]"
        if not self.value:
            self.back = self.names.fresh("back")
            if self.kind == "tuple":
                lines = [f"({value}), {self.back} = {self.pull}({self._arguments()})"]
            else:
                lines = [f"{value}, {self.back} = {self.pull}({self._arguments()})"]
        else:
            lines = [f"{value} = {self.value}({self._arguments()})"]
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

    def _part(self, seed: str, place: str) -> str:
        """The derivative of one part of the value."""
        targets = ", ".join(f"{self.bars[w]}[{place}]" for w in self.wrt if w not in self.given)
        store = f"{targets} = " if targets else ""
        if not self.value:
            return f"{store}{self.back}({seed})"
        into = [f"{self.bars[w]}[{place}]" for w in self.given]
        return f"{store}{self.pull}({', '.join([self._arguments(), seed, *into])})"

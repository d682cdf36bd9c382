"""Programs drawn at random over shapes that broadcast: axes of length 0 and 1, none at all, reshapes, parts, loops.

`python -m tests.random.shapes FIRST COUNT` draws so many. The gradient is made from the general text, from text for
the shapes of the arguments (`like=`), and by differences; all three must agree, and have the arguments' shapes.
"""

from __future__ import annotations

import collections
import linecache
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any  # arguments and results of arbitrary functions

import numpy as np

import srcgrad
from srcgrad.core.errors import DifferentiationError
from tests.random.judge import refusal

Shape = tuple[int, ...]
Drawn = tuple[str, Shape]
LARGEST = 200
UNARY = ("np.tanh({a})", "np.sin({a})", "(-{a})", "({a} ** 2)", "(0.5 * {a})", "np.sqrt({a} * {a} + 1.0)", "+{a}")
BINARY = (
    "({a} + {b})", "({a} - {b})", "({a} * {b})", "({a} / (1.5 + {b} ** 2))", "np.where({a} > {b}, {a}, 0.3 * {b})",
    "np.maximum({a}, {b})", "({a} @ {b})", "np.dot({a}, {b})", "np.concatenate(({a}, {b}), axis=0)",
    "np.concatenate(({a}, {b}), axis=-1)", "np.stack(({a}, {b}), axis=0)", "np.outer({a}, {b})", "np.inner({a}, {b})",
)  # fmt: skip
OTHER = (
    "np.sum({a}, axis=0)", "np.sum({a}, axis=-1, keepdims=True)", "np.mean({a}, axis=-1)", "np.mean({a}, axis=0)",
    "np.max({a}, axis=0, keepdims=True)", "{a}.max(axis=-1)", "np.linalg.norm({a} + 2.5, axis=-1)", "({a}).T",
    "({a})[:-1]", "({a})[1:]", "({a})[::2]", "({a})[0]", "({a})[:, -1]", "({a})[..., ::-1]", "({a})[:, 1:2]",
    "({a})[None]", "({a})[..., None]", "({a})[:, None]", "({a})[np.array([0, 0, -1])]", "({a})[:0]",
    "np.reshape({a}, -1)", "np.reshape({a}, (-1, 1))", "np.reshape({a}, (1, -1))", "({a}).reshape({a}.size)",
    "np.broadcast_to({a}, (2, *np.shape({a})))", "np.cumsum({a}, axis=0)", "np.flip({a}, 0)",
    "np.einsum('ij,ij->j', {a}, {a})", "np.einsum('ij,kj->ik', {a}, {a})", "np.zeros_like({a}) + {a}",
    "({a} + np.ones({a}.shape))", "np.zeros((len({a}), 1)) + {a}",
    "np.swapaxes({a}, 0, -1)", "np.repeat({a}, 2, axis=0)",
)  # fmt: skip


@dataclass
class Writer:
    """One function being written: its lines, and the shapes of what may be read where the next line goes."""

    pick: random.Random
    shapes: dict[str, Shape] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    made: int = 0

    def shape(self, text: str) -> Shape | None:
        """The shape of an expression; None where NumPy refuses it, or where it is large."""
        values = {name: np.full(shape, 0.3) if shape else np.float64(0.3) for name, shape in self.shapes.items()}
        try:
            with np.errstate(all="ignore"):
                found = np.shape(eval(text, {"np": np, **values}))
        except (ValueError, IndexError, TypeError, AttributeError):
            return None
        return found if len(found) < 4 and int(np.prod(found)) <= LARGEST else None

    def expression(self, depth: int) -> Drawn:
        name = self.pick.choice(list(self.shapes))
        if depth == 0 or self.pick.random() < 0.15:
            return name, self.shapes[name]
        first, shape = self.expression(depth - 1)
        second = self.expression(depth - 1)[0]
        form = self.pick.choice(self.pick.choice((UNARY, BINARY, BINARY, OTHER, OTHER)))
        text = form.format(a=first, b=second)
        found = self.shape(text)
        return (first, shape) if found is None else (text, found)

    def bind(self, indent: str, text: str, shape: Shape) -> str:
        self.made += 1
        self.lines.append(f"{indent}t{self.made} = {text}")
        self.shapes[f"t{self.made}"] = shape
        return f"t{self.made}"

    def statement(self, indent: str) -> None:
        kind = self.pick.choice(("bind", "bind", "bind", "bind", "again", "loop", "write", "branch"))
        text, shape = self.expression(3)
        if kind == "bind" or len(indent) > 8:
            self.bind(indent, f"np.tanh({text})", shape)
        elif kind == "again":
            same = [name for name, known in self.shapes.items() if known == shape and name.startswith("t")]
            if same:
                self.lines.append(f"{indent}{self.pick.choice(same)} = {text}")
        else:
            source = self.pick.choice(list(self.shapes))
            getattr(self, kind)(indent, source, self.shapes[source])

    def loop(self, indent: str, source: str, shape: Shape) -> None:
        held = self.bind(indent, f"1.0 * {source}", shape)
        self.lines.append(f"{indent}for _ in range({self.pick.choice(['2', 'n'])}):")
        before = dict(self.shapes)
        if self.pick.random() < 0.5:
            self.statement(indent + "    ")
        text = f"np.tanh({held} * 0.7 + 0.1 * {self.expression(2)[0]})"
        fits = self.shape(text) == shape
        self.lines.append(f"{indent}    {held} = {text if fits else f'np.tanh({held})'}")
        self.shapes = before

    def write(self, indent: str, source: str, shape: Shape) -> None:
        held = self.bind(indent, f"np.zeros({shape}) + {source}", shape)
        part = f"{held}[{self.pick.choice(['0', '1:', ':-1', '-1', '::2', '...'])}]"
        into, (text, _) = self.shape(part), self.expression(2)
        if shape and into is not None and self.shape(f"{text} + {part}") == into:
            self.lines.append(f"{indent}{part} {self.pick.choice(['=', '+=', '*='])} {text}")

    def branch(self, indent: str, source: str, shape: Shape) -> None:
        held = self.bind(indent, f"np.sin({source})", shape)
        self.lines.append(f"{indent}if np.sum({held}) > {self.pick.choice(['0.0', '0.5', '-9.0'])}:")
        text, found = self.expression(2)
        self.lines.append(f"{indent}    {held} = {text if found == shape else f'{held} * 2.0'}")


def program(seed: int) -> tuple[str, dict[str, Shape]]:
    """The text of one program, which defines f, and the shapes of its arguments, of which n comes behind them."""
    pick = random.Random(seed)
    lengths = [pick.choice((1, 2, 3, 2, 3, 2, pick.choice((0, 1, 4)))) for _ in range(3)]
    names = "xyzu"[: pick.randrange(2, 5)]
    given = {name: tuple(pick.choice(lengths) for _ in range(pick.choice((0, 1, 1, 2, 2, 2, 3)))) for name in names}
    writer = Writer(pick, dict(given))
    for _ in range(pick.randrange(2, 6)):
        writer.statement("    ")
    ends = " + ".join(f"np.sum({name} ** 2)" for name in list(writer.shapes)[-3:])
    return f"def f({', '.join(given)}, n):\n" + "\n".join(writer.lines) + f"\n    return {ends}\n", given


def outcome(seed: int) -> str:
    """`right`, `refused CODE: message`, `skipped` (the program itself fails, or is not smooth), or `wrong: why`."""
    text, given = program(seed)
    name = f"<random shapes {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space: dict[str, Any] = {"np": np}
    exec(compile(text, name, "exec"), space)
    numbers = np.random.default_rng(seed)
    number = np.float64 if seed % 2 else float
    args = [numbers.normal(size=shape) if shape else number(numbers.normal()) for shape in given.values()]
    try:
        slope, ways = difference(space["f"], args, numbers)
        if slope is None:
            return "skipped"
        return compared(space["f"], args, slope, ways)
    except DifferentiationError as error:
        return refusal(error, text)
    except Exception as error:
        return f"wrong: {type(error).__name__} {error}"
    finally:
        linecache.cache.pop(name, None)


def difference(f: Callable[..., Any], args: list[Any], numbers: np.random.Generator) -> tuple[float | None, list[Any]]:
    """The slope along a direction, and the direction; None where two steps do not agree upon it."""
    ways = [numbers.normal(size=np.shape(value)) for value in args]

    def at(step: float) -> float:
        moved = [value + step * way for value, way in zip(args, ways, strict=True)]
        return float(
            f(*[type(old)(new) if np.ndim(new) == 0 else new for old, new in zip(args, moved, strict=True)], 2)
        )

    try:
        slopes = [(at(step) - at(-step)) / (2.0 * step) for step in (1e-6, 1e-5)]
    except (ValueError, IndexError, TypeError, AttributeError):
        return None, ways
    near = abs(slopes[0] - slopes[1]) <= 1e-4 * (1.0 + abs(slopes[0]))
    return (slopes[0] if near and np.isfinite(slopes[0]) else None), ways


def compared(f: Callable[..., Any], args: list[Any], slope: float, ways: list[Any]) -> str:
    """Both texts against the slope, and against each other."""
    wrt = tuple(range(len(args)))
    general = srcgrad.grad(f, wrt)(*args, 2)
    special = srcgrad.grad(f, wrt, like=(*args, 2))(*args, 2)
    for found in (general, special):
        for value, gradient, wanted in zip(args, found, general, strict=True):
            if np.shape(gradient) != np.shape(value):
                return f"wrong: the gradient has shape {np.shape(gradient)}, its argument {np.shape(value)}"
            if not np.allclose(gradient, wanted, rtol=1e-9, atol=1e-9):
                return f"wrong: with shapes {gradient}, without {wanted}"
    along = sum(float(np.sum(part * way)) for part, way in zip(general, ways, strict=True))
    return "right" if abs(along - slope) <= 1e-3 * (1.0 + abs(slope)) else f"wrong: {along}, by differences {slope}"


def main(first: int, count: int) -> int:
    """Draw programs, print the counts; the number that were wrong."""
    counts: collections.Counter[str] = collections.Counter()
    for seed in range(first, first + count):
        found = outcome(seed)
        counts[found[:14] if found.startswith("refused") else found.split(":")[0]] += 1
        if found.startswith(("wrong", "refused E5004")):
            print(f"program {seed}: {found[:300]}", flush=True)
    print(dict(counts))
    return counts["wrong"]


if __name__ == "__main__":
    with np.errstate(all="ignore"):
        sys.exit(main(int(sys.argv[1]), int(sys.argv[2])) > 0)

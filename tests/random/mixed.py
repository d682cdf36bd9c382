"""Programs drawn at random of all that Python has, together: calls, loops, writes, containers, draws, closures.

`python -m tests.random.mixed FIRST COUNT [ORDER]` prints what is wrong, and how many were right, refused or wrong. The
value must be that of the function but for roundings, the state of the generator the same, both modes must agree with
each other and with differences, the dumped text with the text made here, and no argument may change.
"""

from __future__ import annotations

import collections
import importlib.util
import linecache
import random
import re
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any  # arguments and results of arbitrary functions

import numpy as np

import srcgrad
from srcgrad import check_grads
from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.check.check import CheckFailed, value_differences
from srcgrad.interface.check.finite_differences import shape_like, tangent_like, vector
from srcgrad.interface.dump import dump
from tests.random.judge import Late, amiss, limited, refusal
from tests.random.mixed_forms import ARRAYS, HEAD, LEAVING, NESTED, NUMBERS, STATEMENTS, TESTS

HOLE = re.compile(r"\{(\w+)(?::(\w))?\}")
MADE = {"s": "num loc", "a": "arr", "o": "arr own", "v": "arr own"}
CONTAINERS = {
    "D": lambda x, y: {"w": x, "b": y},
    "P": lambda x, y: (x, y),
    "L": lambda x, y: [y, 0.3 * y, 0.9],
    "R": lambda x, y: [x, 0.5 * x[::-1]],
    "O": None,  # a Body, which the program defines
}


class Lacking(Exception):  # noqa: N818  (no error: another form is drawn)
    """A form has a hole that nothing in scope fills."""


@dataclass
class Writer:
    """One function being written: its lines, and the names of each kind that may be read where the next line goes."""

    pick: random.Random
    names: dict[str, list[str]]
    draws: bool
    empty: bool
    called: dict[str, list[str]] = field(default_factory=dict)
    results: str = ""
    made: list[str] = field(default_factory=list)
    looping: int = 0

    def fresh(self, mark: str) -> str:
        """A name that is not in use."""
        self.made.append(f"{mark.lower()}{len(self.made) + 1}")
        return self.made[-1]

    def form(self, forms: tuple[str, ...], depth: int = 0, indent: int = 0) -> str:
        """One of the forms, its holes filled; what it binds may be read afterwards."""
        while True:
            chosen = self.pick.choice(forms)
            if not self.draws and re.search(r"\brng\b", chosen):
                continue
            if self.empty and re.search(r"\{i\}|np\.max\(|mean|roll|add\.at|\[0\]\[|\.T|sort", chosen):
                continue
            if depth > 1 and " for " in chosen:
                continue  # where it may not be evaluated it is refused
            held = {kind: list(known) for kind, known in self.names.items()}
            try:
                return self.filled(chosen, depth, indent)
            except Lacking:
                self.names = held

    def filled(self, form: str, depth: int, indent: int) -> str:
        """A form with its holes filled."""
        bound: list[tuple[str, str]] = []
        one: list[str] = []

        def hole(found: re.Match[str]) -> str:
            name, mark = found.groups()
            if name == "new" and mark is None:
                one.append(one[0] if one else self.fresh("z"))
                return one[0]
            if name in ("new", "it"):
                made = self.fresh(mark)
                kinds = MADE.get(mark, mark).split()
                bound.extend((kind, made) for kind in kinds if name == "new")
                if name == "it" or mark in "fk":
                    passing.extend((kind, made) for kind in kinds)
                return made
            if name in ("last", "lastbut"):
                return self.made[-1 if name == "last" else -2]
            return self.value(name, depth, indent)

        passing: list[tuple[str, str]] = []
        lines = []
        for line in form.split("\n"):
            known = len(passing)
            lines.append(HOLE.sub(hole, line))
            for kind, made in passing[known:]:
                self.names.setdefault(kind, []).append(made)
        for kind, made in passing:
            self.names[kind].remove(made)
        for kind, made in bound:
            self.names.setdefault(kind, []).append(made)
        return "\n".join(lines)

    def value(self, name: str, depth: int, indent: int) -> str:
        """What fills a hole."""
        if name in ("block", "inner"):
            return self.block(indent + 1, name == "inner")
        if name == "way":
            ways = ["break", "continue"] if self.looping else []
            return self.pick.choice([*ways, *ways, f"return {self.result()}"])
        if name == "n":
            return self.pick.choice(["n", "3", "2", "1", "0", "n + 1", "len(x)"])
        if name == "k":
            return self.pick.choice([*self.names.get("k", []) * 2, "n", "1", "2"])
        if name == "i":
            return self.pick.choice(["0", "-1", *(f"{k} % len(x)" for k in self.names.get("k", []) * 2)])
        if name in "sat":
            deep = depth > 1 or self.pick.random() < 0.3
            forms = {"s": NUMBERS, "a": ARRAYS, "t": TESTS}[name]
            own = tuple(self.called.get(name, ()))
            if deep and name != "t":
                forms, own = (("{num}", "{num}", "{arr}[{i}]") if name == "s" else ("{arr}",)), ()
            return self.form(forms + own * 3, depth + 1)
        if name == "fun":
            return self.names["f"][-1]
        known = self.names.get(name)
        if not known:
            raise Lacking
        if name == "gone":
            raise Lacking
        return self.pick.choice(known)

    def block(self, indent: int, looping: bool, most: int = 3) -> str:
        """Some statements; names that they bind are not read behind them."""
        held = {kind: list(known) for kind, known in self.names.items()}
        self.looping += looping
        lines = [self.statement(indent) for _ in range(self.pick.randint(1, most))]
        self.looping -= looping
        self.names = held
        return "\n".join(lines)

    def statement(self, indent: int) -> str:
        """A statement, with its indentation."""
        kind = self.pick.random()
        if indent < 4 and kind < 0.27:
            text = self.form(NESTED, 1, indent)
        elif indent > 1 and kind < 0.37:
            text = self.form(LEAVING, 1, indent)
        else:
            text = self.form(STATEMENTS + tuple(self.called.get("statement", ())) * 9, 0, indent)
        lines = text.split("\n")  # those of blocks have their indentation, and a mark
        return "\n".join(line if line.startswith("\0") else "\0" + "    " * indent + line for line in lines)

    def result(self) -> str:
        """What the function returns."""
        forms = {
            "s": "np.sum({arr}) * {num}", "S": "{num} + 0.3 * np.sum({arr})", "a": "{arr} * {num}",
            "P": "({arr} * 1.0, {num} * 1.0)", "D": "{'a': {num} * 1.0, 'b': [{arr} * {num}]}",
        }  # fmt: skip
        return self.form((forms[self.results],), 3)


def function(pick: random.Random, name: str, head: str, names: dict[str, list[str]], options: dict[str, Any]) -> str:
    """The text of a function."""
    writer = Writer(pick, names, **options)
    lines = [f"def {name}({head}):"]
    if "own" not in names:
        lines.append(f"    a = {writer.pick.choice(['x * 1.0', 'np.sin(x)', 'x.copy()', 'x * y'])}")
        names["arr"].append("a")
        names["own"] = ["a"]
    lines.append(f"    c = {writer.pick.choice(['y * 0.5', 'np.tanh(y)', '0.3', 'y + 0.1'])}")
    names["num"].append("c")
    names["loc"] = ["c"]
    lines += [writer.statement(1) for _ in range(pick.randint(2, 5 if name == "f" else 3))]
    return "\n".join([*lines, f"    return {writer.result()}"]).replace("\0", "") + "\n\n\n"


def program(seed: int) -> str:
    """The text of one program, which defines f(x, y, p, n, rng)."""
    pick = random.Random(seed)
    empty = size(seed) == 0
    text = HEAD
    called: dict[str, list[str]] = {}
    for number in range(pick.randint(0, 2)):
        draws, kind = pick.random() < 0.3, pick.choice("saP")
        head = ("rng, " if draws else "") + pick.choice(["x, y", "x, y, n=2", "x, y=0.4, *, n=1"])
        names: dict[str, list[str]] = {"arr": ["x"], "num": ["y"]}
        if pick.random() < 0.3:
            names["own"] = ["x"]
        head += "" if "n" in head.replace("rng", "") else ", n=2"
        options: dict[str, Any] = {"draws": draws, "empty": empty, "called": dict(called), "results": kind}
        text += function(pick, f"h{number}", head, names, options)
        writes = "x" in names["own"]
        where = "{own}" if writes else "{a}"
        call = f"h{number}({'rng, ' if draws else ''}{where}, {pick.choice(['{s}', 'y={s}', '{s}, n={k}'])})"
        if writes:
            bound = {"s": "{new:s}", "a": "{new:a}", "P": "{new:a}, {new:s}"}[kind]
            called.setdefault("statement", []).append(f"{bound} = {call}")
        else:
            called.setdefault("s" if kind in "sP" else "a", []).append(call + "[1]" * (kind == "P"))
    options = {"draws": pick.random() < 0.4, "empty": empty, "called": called, "results": pick.choice("ssSSaPD")}
    names = {"arr": ["x"], "num": ["y"], pick.choice(list(CONTAINERS)): ["p"]}
    if pick.random() < 0.2:
        names["own"] = ["x"]
        names["arr"] = ["x"]
    container = next(kind for kind in names if kind in CONTAINERS)
    text += function(pick, "f", "x, y, p, n, rng", names, options)
    return text + f"CONTAINER = {container!r}\n"


def size(seed: int) -> int:
    """The length of the array."""
    return random.Random(seed + 1).choice((4, 4, 4, 4, 4, 3, 3, 1, 1, 0))


def arguments(seed: int, container: str, body: Any) -> tuple[Any, ...]:
    """Values for x, y, p and n."""
    numbers, length = np.random.default_rng(seed), size(seed)
    x = numbers.uniform(0.2, 1.1, 2 * length) * numbers.choice([-1, 1], 2 * length)
    kind = random.Random(seed + 2).choice(("float", "float", "strided", "float32"))
    x = x[::2] if kind == "strided" else x[:length].astype("float32" if kind == "float32" else float)
    y = numbers.uniform(0.3, 1.2)
    y = random.Random(seed + 3).choice((float, float, np.float64, np.array))(y)
    make = CONTAINERS[container] or body
    return x, y, make(x * 0.7, 0.8 * float(y)), int(numbers.integers(0, 4))


def loaded(text: str, path: Path) -> Any:
    """The module of a text that is written there."""
    path.write_text(text, encoding="utf-8")
    linecache.checkcache(str(path))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


class Wrong(Exception):  # noqa: N818  (a finding)
    """What is wrong with a program."""


def fresh(args: tuple[Any, ...], seed: int) -> tuple[Any, ...]:
    """Copies of the arguments, strides and all, with a generator at its start."""
    x, y, p, n = args
    twice = np.zeros(2 * len(x), dtype=x.dtype)[::2] if x.strides[0] > x.itemsize else np.zeros_like(x)
    twice[...] = x
    y = y.copy() if isinstance(y, np.ndarray) else y
    return twice, y, shape_like(p, vector(p)), n, np.random.default_rng(seed)


def slope(f: Callable[..., Any], args: tuple[Any, ...], seed: int, ways: Any, step: float) -> np.ndarray:
    """The central difference along `ways`."""
    active = args[:3]
    sides = []
    for sign in (1.0, -1.0):
        moved = shape_like(active, vector(active) + sign * step * vector(ways))
        sides.append(vector(f(*fresh((*moved, args[3]), seed))))
    if sides[0].shape != sides[1].shape:
        return np.full(1, np.nan)
    return (sides[0] - sides[1]) / (2.0 * step)


def near(found: Any, wanted: Any, tolerance: float) -> bool:
    """Whether two numbers, or vectors, agree."""
    return bool(np.all(np.abs(found - wanted) <= tolerance * (1.0 + np.abs(wanted))))


def checked(f: Callable[..., Any], args: tuple[Any, ...], seed: int, path: Path) -> None:
    """Raise Wrong where one of the derivatives is."""
    numbers = np.random.default_rng(seed + 1)
    given = fresh(args, seed)
    value = f(*given)
    state = given[4].bit_generator.state
    active, coarse = args[:3], 1e-3 if args[0].dtype == np.float32 else 1e-9
    ways = tangent_like(active, numbers.normal(size=vector(active).size))
    y_bar = tangent_like(value, numbers.normal(size=vector(value).size))

    given = fresh(args, seed)
    y, pullback = srcgrad.vjp(f, *given, wrt=("x", "y", "p"))
    unchanged(given, fresh(args, seed), state, "vjp")
    if value_differences(value, y) and (
        coarse < 1e-6 or not near(vector(y), vector(value), 1e-5)
    ):  # of single precision, perhaps
        raise Wrong(f"vjp: {value_differences(value, y)}")
    bars, again = pullback(y_bar), pullback(y_bar)
    unchanged(given, fresh(args, seed), state, "pullback")
    if not np.array_equal(vector(bars), vector(again), equal_nan=True):
        raise Wrong("pullback twice")
    given = fresh(args, seed)
    found, y_dot = srcgrad.jvp(f, given, (*ways, 0, None))
    unchanged(given, fresh(args, seed), state, "jvp")
    if value_differences(value, found) and (coarse < 1e-6 or not near(vector(found), vector(value), 1e-5)):
        raise Wrong(f"jvp: {value_differences(value, found)}")
    across, along = float(vector(bars) @ vector(ways)), float(vector(y_dot) @ vector(y_bar))
    if not near(across, along, coarse):
        raise Wrong(f"pairing: reverse {across}, forward {along}")
    if args[0].dtype != np.float32:
        slopes = [slope(f, args, seed, ways, step) for step in (1e-5, 1e-6, 1e-7)]
        if not any(near(vector(y_dot), one, 1e-4) for one in slopes) and near(slopes[0], slopes[1], 1e-4):
            raise Wrong(f"differences: {slopes[1]}, derivative {vector(y_dot)}")
    if isinstance(args[2], tuple):
        return  # a text takes what is read by places for an array
    try:
        text = dump(f"{path}:f", mode="vjp", wrt=("x", "y", "p")).text
    except DifferentiationError as error:  # less is known of what is only text
        if why := amiss(error, path.read_text(encoding="utf-8")):
            raise Wrong(f"dump: {why}: {error.code} {error.message}") from None
        return
    names: dict[str, Any] = {"__name__": "dumped"}
    exec(compile(text, f"<dumped {seed}>", "exec"), names)
    given = fresh(args, seed)
    try:
        y, back = names["f_vjp"](*given)
    except TypeError as error:
        if str(error).startswith(("E5005 an argument was taken for an array", "E5003 a method was taken for that of")):
            return  # what the text says that it assumes
        raise
    unchanged(given, fresh(args, seed), state, "dumped")
    if not near(vector(y), vector(value), coarse):  # `a *= s` of float32 by float64 is `a = a * s` there
        raise Wrong(f"dumped: {y}, not {value}")
    if not near(vector(back(y_bar)), vector(bars), coarse):
        raise Wrong(f"dumped: {back(y_bar)}, made here {bars}")


def unchanged(given: tuple[Any, ...], before: tuple[Any, ...], state: Any, which: str) -> None:
    """No argument was changed, and as many numbers were drawn as the function draws."""
    for name, one, other in zip("xyp", given, before, strict=False):
        if not np.array_equal(vector(one), vector(other)):
            raise Wrong(f"{which} changed {name}")
    if given[4].bit_generator.state != state:
        raise Wrong(f"{which} draws other numbers")


def outcome(seed: int, order: int = 1, text: str = "") -> str:
    """`right`, `refused CODE: message`, `skipped` (the program itself fails or grows), or `wrong: why`."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder, f"mixed_{seed}.py")
        try:
            module = loaded(text or program(seed), path)
            args = arguments(seed, module.CONTAINER, module.Body)
            with np.errstate(over="raise", invalid="raise", divide="raise"), limited(2.0):
                value = vector(module.f(*fresh(args, seed)))
        except (Exception, Late):  # some loops never end
            return "skipped"
        if not np.all(np.isfinite(value)) or np.max(np.abs(value), initial=0) > 1e4:
            return "skipped"
        try:
            checked(module.f, args, seed, path)
            if order > 1 and not re.search(r"\brng\.|\(rng", text or program(seed)):
                check_grads(lambda *some: module.f(*some, None), fresh(args, seed)[:4], order)
        except DifferentiationError as error:
            return refusal(error, text or program(seed))
        except (Wrong, CheckFailed) as error:
            return f"wrong: {error}"
        except Exception as error:
            return f"wrong: {type(error).__name__} {error}"
    return "right"


def main(first: int, count: int, order: int = 1) -> int:
    """Draw programs, print the counts; the number that were wrong."""
    counts: collections.Counter[str] = collections.Counter()
    reasons: collections.Counter[str] = collections.Counter()
    for seed in range(first, first + count):
        found = outcome(seed, order)
        counts[found.split()[0].rstrip(":")] += 1
        if found.startswith("refused"):
            reasons[found[:150]] += 1
        if found.startswith("wrong"):
            print(f"program {seed}: {found[:400]}".replace("\n", " | "), flush=True)
    print(dict(counts))
    for reason, number in reasons.most_common(15):
        print(f"{number:6d} {reason}")
    return counts["wrong"]


if __name__ == "__main__":
    sys.exit(min(main(*map(int, sys.argv[1:])), 1))

"""Programs drawn at random that reuse a few names in every scope: what a name means is where it is bound.

`python -m tests.random.names FIRST COUNT` prints what is wrong, and how many were right, refused or wrong. Globals,
parameters, locals, loop and comprehension variables, parameters of lambdas, nested functions, methods, fields and
functions of another module all take their names from one short list. Value and gradient must be those of the plain
call and of differences, forward mode must agree, and so must the dumped text where it can be imported.
"""

from __future__ import annotations

import collections
import importlib.util
import linecache
import random
import sys
import tempfile
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any  # functions of arbitrary texts

import numpy as np

import srcgrad
from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.dump import dump
from tests.random.judge import amiss

NAMES = ("a", "b", "k", "h", "a", "b", "k", "h", "x", "x", "g", "f", "m", "np", "sum", "t1", "y", "a_1", "x_bar")
CONSTANTS = ("0.7", "1.3", "-0.4", "0.9", "2.0")
NUMBER, FUNCTION, APPLY, RECORD, CLASS, LIBRARY, OTHER, MAKER = [
    "number",
    "function",
    "apply",
    "record",
    "class",
    "np",
    "other",
    "maker",
]


@dataclass
class Scope:
    """What one function or module binds, and what is bound where the next line goes."""

    outer: Scope | None
    local: frozenset[str] | None = None  # of a function: all that it may bind; None for a module
    bound: dict[str, tuple[str, Any]] = field(default_factory=dict)
    loops: int = 0
    cells: dict[str, None] = field(default_factory=dict)  # names of outer functions that it may bind anew

    def meaning(self, name: str) -> tuple[str, Any] | None:
        """The kind of what a name means here; None where it is not bound."""
        if name in self.bound:
            return self.bound[name]
        if self.local is not None and name in self.local:
            return None
        return None if self.outer is None else self.outer.meaning(name)

    def names(self, *kinds: str) -> list[str]:
        """The names that mean something of these kinds."""
        found = []
        for name in dict.fromkeys((*NAMES, "range", "np", "Model")):
            known = self.meaning(name)
            if known is not None and known[0] in kinds:
                found.append(name)
        return found


class Writer:
    """Writes one module of functions."""

    def __init__(self, seed: int, pick: random.Random | None = None) -> None:
        self.pick = pick or random.Random(seed)
        self.lines: list[str] = []
        self.depth = 0

    def put(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def chance(self, share: float) -> bool:
        return self.pick.random() < share

    def number(self, scope: Scope, depth: int = 0) -> str:
        """An expression for a number."""
        names = scope.names(NUMBER)
        forms = ["leaf"] * (2 + 2 * depth) + [
            "sum",
            "product",
            "call",
            "call",
            "comprehension",
            "lambda",
            "field",
            "np",
        ]
        if depth > 2:
            forms = ["leaf"]
        form = self.pick.choice(forms)
        if form == "sum":
            return f"({self.number(scope, depth + 1)} {self.pick.choice('+-')} {self.number(scope, depth + 1)})"
        if form == "product":
            return f"{self.number(scope, depth + 2)} * {self.number(scope, depth + 2)}"
        if form == "np":
            library = scope.names(LIBRARY)
            if library:
                called = self.pick.choice(("sin", "tanh", "cos"))
                return f"{self.pick.choice(library)}.{called}({self.number(scope, depth + 1)})"
        if form == "call":
            made = self.call(scope, depth)
            if made:
                return made
        if form == "field":
            records = [(n, scope.meaning(n)) for n in scope.names(RECORD)]
            if records:
                name, known = self.pick.choice(records)
                fields, methods = known[1]  # type: ignore[index]
                if not methods or self.chance(0.5):
                    return f"{name}.{self.pick.choice(fields)}"
                return f"{name}.{self.pick.choice(methods)}({self.number(scope, depth + 1)})"
        if form == "comprehension" and scope.meaning("sum") == ("builtin", None):
            return self.comprehension(scope, depth)
        if form == "lambda" and depth < 2:
            own = self.pick.choice(NAMES)
            inner = Scope(scope, frozenset([own]), {own: (NUMBER, None)})
            return f"(lambda {own}: {self.number(inner, depth + 1)})({self.number(scope, depth + 1)})"
        if names and self.chance(0.85):
            return self.pick.choice(names)
        return self.pick.choice(CONSTANTS)

    def comprehension(self, scope: Scope, depth: int) -> str:
        own = self.pick.choice(NAMES)
        first, second = self.number(scope, depth + 1), self.number(scope, depth + 1)
        inner = Scope(scope, frozenset([own]), {own: (NUMBER, None)})
        item = self.number(inner, depth + 1)
        over = self.pick.choice((f"({first}, {second})", f"[{first}, {second}]", "range(2)"))
        return f"sum([{item} for {own} in {over}])" if self.chance(0.6) else f"sum({item} for {own} in {over})"

    def call(self, scope: Scope, depth: int) -> str:
        """A call of some function in sight."""
        found = [(n, scope.meaning(n)) for n in scope.names(FUNCTION, APPLY, OTHER)]
        if not found:
            return ""
        name, known = self.pick.choice(found)
        assert known is not None
        kind, about = known
        if kind == OTHER:
            name, about = (lambda one: (f"{name}.{one}", about[one]))(self.pick.choice(list(about)))
            kind, about = about
            if kind == NUMBER:
                return name
        parameters, optional = about[0], about[1]
        given = [self.number(scope, depth + 1) for _ in parameters]
        if kind == APPLY:
            functions = [n for n in scope.names(FUNCTION) if len(scope.meaning(n)[1][0]) == 1]  # type: ignore[index]
            own = self.pick.choice(NAMES)
            inner = Scope(scope, frozenset([own]), {own: (NUMBER, None)})
            given[0] = (
                self.pick.choice(functions)
                if functions and self.chance(0.5)
                else f"lambda {own}: {self.number(inner, depth + 1)}"
            )
        words = [f"{p}={self.number(scope, depth + 1)}" for p in optional if self.chance(0.5)]
        if kind != APPLY and len(given) > 1 and self.chance(0.3):
            words = [*(f"{p}={g}" for p, g in list(zip(parameters, given, strict=True))[1:]), *words]
            given = given[:1]
        return f"{name}({', '.join([*given, *words])})"

    def target(self, scope: Scope, kind: str = NUMBER) -> str | None:
        """A name that may be bound to something of this kind."""
        assert scope.local is not None
        free = [n for n in NAMES if n in scope.local and scope.bound.get(n, (kind, 0))[0] == kind]
        if kind != NUMBER:
            free = [n for n in free if n not in scope.bound]
        return self.pick.choice(free) if free else None

    def parameters(self, count: int) -> list[str]:
        found: list[str] = []
        while len(found) < count:
            one = self.pick.choice(NAMES)
            if one not in found:
                found.append(one)
        return found

    def header(self, scope: Scope, extra: int = 0) -> tuple[list[str], list[str], str]:
        """Parameters, those with defaults, and how they are written."""
        names = self.parameters(self.pick.choice((1, 1, 2)) + extra)
        optional = []
        if self.chance(0.35):
            optional = [n for n in self.parameters(1) if n not in names]
        given = [*names, *(f"{n}={self.default(scope)}" for n in optional)]
        return names, optional, ", ".join(given)

    def default(self, scope: Scope) -> str:
        names = scope.names(NUMBER)
        return self.pick.choice(names) if names and self.chance(0.6) else self.pick.choice(CONSTANTS)

    def function(self, name: str, scope: Scope, indent: int, kind: str = FUNCTION, size: int = 3, own: str = "") -> Any:
        """A definition; what its calls need to know."""
        names, optional, written = self.header(scope)
        if own:
            names, optional = ([n for n in names if n != own] or ["k" if own != "k" else "a"])[:1], []
            written = ", ".join([own, *names])
        local = frozenset([*names, *optional, *self.parameters(self.pick.randint(1, 5))]) | ({own} if own else set())
        bound: dict[str, tuple[str, Any]] = dict.fromkeys([*names, *optional], (NUMBER, None))
        if kind == APPLY:
            bound[names[0]] = (FUNCTION, (["u"], []))
        inner = Scope(scope, local, bound)
        if own:
            inner.bound[own] = (RECORD, self.record)
        self.put(indent, f"def {name}({written}):")
        if scope.local is not None and self.chance(0.4):
            cells = [n for n in scope.bound if scope.bound[n][0] == NUMBER and n not in names and n not in optional]
            for one in [self.pick.choice(cells)] if cells else []:
                self.put(indent + 1, f"nonlocal {one}")
                inner.local = local - {one}
                inner.cells[one] = None
        self.depth += 1
        for _ in range(self.pick.randint(0, size)):
            self.statement(inner, indent + 1)
        self.depth -= 1
        if kind == APPLY:
            self.put(indent + 1, f"return {names[0]}({self.number(inner, 1)}) * {self.number(inner, 1)}")
        else:
            self.put(indent + 1, f"return {self.number(inner)}")
        return names, optional

    def maker(self, name: str, scope: Scope, indent: int) -> None:
        """A function that makes one."""
        names = self.parameters(1)
        made = self.parameters(1)[0]
        inner = Scope(scope, frozenset([*names, made]), {names[0]: (NUMBER, None)})
        self.put(indent, f"def {name}({names[0]}):")
        if made in names or self.chance(0.5):
            own = self.pick.choice(NAMES)
            body = Scope(inner, frozenset([own]), {own: (NUMBER, None)})
            self.put(indent + 1, f"return lambda {own}: {self.number(body, 1)}")
            return
        own = self.pick.choice(NAMES)
        body = Scope(inner, frozenset([own]), {own: (NUMBER, None)})
        self.put(indent + 1, f"def {made}({own}):")
        if self.chance(0.3) and own not in names:
            self.put(indent + 2, f"nonlocal {names[0]}")
            self.put(indent + 2, f"{names[0]} = {self.number(body, 1)}")
        self.put(indent + 2, f"return {self.number(body, 1)}")
        self.put(indent + 1, f"return {made}")

    def statement(self, scope: Scope, indent: int) -> None:
        forms = ["assign"] * 3 + ["augmented", "pair", "chain", "for", "nested", "lambda", "if", "cell", "effect"]
        forms += ["made", "object", "walrus", "alias"]
        form = self.pick.choice(forms)
        if scope.loops and form in ("for", "nested", "lambda", "made", "object", "alias"):
            form = "assign"
        if self.depth > 2 and form in ("nested", "for"):
            form = "assign"
        getattr(self, f"_{form}")(scope, indent)

    def bind(self, name: str, scope: Scope) -> None:
        scope.bound[name] = (NUMBER, None)

    def _assign(self, scope: Scope, indent: int) -> None:
        name = self.target(scope)
        if name is not None:
            self.put(indent, f"{name} = {self.number(scope)}")
            self.bind(name, scope)

    def _augmented(self, scope: Scope, indent: int) -> None:
        names = [n for n in scope.bound if scope.bound[n][0] == NUMBER]
        if names:
            self.put(indent, f"{self.pick.choice(names)} {self.pick.choice(('+=', '*=', '-='))} {self.number(scope)}")

    def _pair(self, scope: Scope, indent: int) -> None:
        one, two = self.target(scope), self.target(scope)
        if one is None or two is None or one == two:
            return
        names = scope.names(NUMBER)
        if names and self.chance(0.4):
            self.put(indent, f"{one}, {two} = {self.pick.choice(names)}, {self.pick.choice(names)}")
        else:
            self.put(indent, f"{one}, {two} = {self.number(scope)}, {self.number(scope)}")
        self.bind(one, scope)
        self.bind(two, scope)

    def _chain(self, scope: Scope, indent: int) -> None:
        one, two = self.target(scope), self.target(scope)
        if one is not None and two is not None and one != two:
            self.put(indent, f"{one} = {two} = {self.number(scope)}")
            self.bind(one, scope)
            self.bind(two, scope)

    def _for(self, scope: Scope, indent: int) -> None:
        name = self.target(scope)
        if name is None:
            return
        values = f"({self.number(scope, 1)}, {self.number(scope, 1)})"
        over = self.pick.choice(("range(2)", values, values.replace("(", "[", 1)[:-1] + "]"))
        self.put(indent, f"for {name} in {over}:")
        self.bind(name, scope)
        self.body(scope, indent)

    def body(self, scope: Scope, indent: int) -> None:
        held, before = dict(scope.bound), len(self.lines)
        scope.loops += 1
        for _ in range(self.pick.randint(1, 2)):
            self.statement(scope, indent + 1)
        scope.loops -= 1
        if len(self.lines) == before:
            self.put(indent + 1, "pass")
        scope.bound.clear()
        scope.bound.update(held)

    def _if(self, scope: Scope, indent: int) -> None:
        names = scope.names(NUMBER)
        if names:
            self.put(indent, f"if {self.pick.choice(names)} > {self.pick.choice(('0.25', '-0.6', '1.1'))}:")
            self.body(scope, indent)
            if self.chance(0.5):
                self.put(indent, "else:")
                self.body(scope, indent)

    def _nested(self, scope: Scope, indent: int) -> None:
        name = self.target(scope, FUNCTION)
        if name is not None:
            scope.bound[name] = (FUNCTION, None)
            del scope.bound[name]
            kind = APPLY if self.chance(0.15) else FUNCTION
            about = self.function(name, scope, indent, kind, size=2)
            scope.bound[name] = (kind, about)

    def _lambda(self, scope: Scope, indent: int) -> None:
        name = self.target(scope, FUNCTION)
        if name is None:
            return
        own = self.pick.choice(NAMES)
        inner = Scope(scope, frozenset([own]), {own: (NUMBER, None)})
        self.put(indent, f"{name} = lambda {own}: {self.number(inner, 1)}")
        scope.bound[name] = (FUNCTION, ([own], []))

    def _made(self, scope: Scope, indent: int) -> None:
        name, makers = self.target(scope, FUNCTION), scope.names(MAKER)
        if name is not None and makers:
            self.put(indent, f"{name} = {self.pick.choice(makers)}({self.number(scope, 1)})")
            scope.bound[name] = (FUNCTION, (["u"], []))

    def _alias(self, scope: Scope, indent: int) -> None:
        """A local name for a function that has another one."""
        name = self.target(scope, FUNCTION)
        found = [n for n in scope.names(FUNCTION) if n != name]
        library = scope.names(LIBRARY)
        if name is None:
            return
        if found and self.chance(0.7):
            other = self.pick.choice(found)
            self.put(indent, f"{name} = {other}")
            scope.bound[name] = (FUNCTION, (scope.meaning(other)[1][0], []))  # type: ignore[index]
        elif library:
            self.put(indent, f"{name} = {self.pick.choice(library)}.{self.pick.choice(('sin', 'tanh'))}")
            scope.bound[name] = (FUNCTION, (["u"], []))

    def _object(self, scope: Scope, indent: int) -> None:
        name, classes = self.target(scope, RECORD), scope.names(CLASS)
        if name is not None and classes:
            made = self.pick.choice(classes)
            about = scope.meaning(made)[1]  # type: ignore[index]
            given = ", ".join(self.number(scope, 1) for _ in about[0])
            self.put(indent, f"{name} = {made}({given})")
            scope.bound[name] = (RECORD, about)

    def _walrus(self, scope: Scope, indent: int) -> None:
        name, other = self.target(scope), self.target(scope)
        if name is not None and other is not None and other != name:
            self.put(indent, f"{other} = ({name} := {self.number(scope, 1)}) * {self.number(scope, 1)}")
            self.bind(name, scope)
            self.bind(other, scope)

    def _cell(self, scope: Scope, indent: int) -> None:
        for one in scope.cells:
            self.put(indent, f"{one} = {one} + {self.number(scope, 1)}")

    def _effect(self, scope: Scope, indent: int) -> None:
        own = [n for n, (kind, _) in scope.bound.items() if kind == FUNCTION]
        if own:
            name = self.pick.choice(own)
            given = ", ".join(self.number(scope, 1) for _ in scope.bound[name][1][0])
            held = self.target(scope)
            if held is not None and self.chance(0.5):
                self.put(indent, f"{held} = {name}({given})")
                self.bind(held, scope)
            else:
                self.put(indent, f"{name}({given})")

    def record_class(self, name: str, scope: Scope) -> Any:
        """A dataclass whose fields and methods have such names."""
        words = self.parameters(4)
        fields, methods = words[:2], words[2:]
        self.put(0, "@dataclasses.dataclass")
        self.put(0, f"class {name}:")
        for one in fields:
            self.put(1, f"{one}: float")
        self.record = fields, []
        for one in methods:
            self.put(0, "")
            own = self.pick.choice(("self", "self", "self", *NAMES))
            self.function(one, scope, 1, size=2, own=own)
            self.record[1].append(one)
        return fields, methods

    def module(self, other: dict[str, tuple[str, Any]] | None, main: bool) -> tuple[str, dict[str, tuple[str, Any]]]:
        """The text of a module, and what it binds."""
        top = Scope(None, None, {"np": (LIBRARY, None), "range": ("builtin", None), "sum": ("builtin", None)})
        self.put(0, "import dataclasses\n")
        self.put(0, "import numpy as np")
        names = [*dict.fromkeys(n for n in NAMES if n not in ("np", "sum", "f")), "c", "d", "e", "p"]
        self.pick.shuffle(names)
        if other and main:
            if self.chance(0.5):
                self.put(0, f"import OTHER as {names[0]}")
                top.bound[names.pop(0)] = (OTHER, {n: v for n, v in other.items() if v[0] in (NUMBER, FUNCTION)})
            for one in [n for n, v in other.items() if v[0] in (FUNCTION, NUMBER, APPLY)][:2]:
                held = names.pop(0)
                self.put(0, f"from OTHER import {one} as {held}")
                top.bound[held] = other[one]
        self.put(0, "")
        for _ in range(self.pick.randint(2, 3)):
            held = names.pop()
            self.put(0, f"{held} = {self.pick.choice(CONSTANTS)}")
            top.bound[held] = (NUMBER, None)
        for _ in range(self.pick.randint(2, 4)):
            held = names.pop()
            self.put(0, "\n")
            kind = self.pick.choice((FUNCTION, FUNCTION, FUNCTION, APPLY, MAKER, CLASS if main else FUNCTION))
            if kind == CLASS:
                about = self.record_class(held, top)
                top.bound[held] = (CLASS, about)
                if names and self.chance(0.7):
                    thing = names.pop()
                    self.put(0, f"\n\n{thing} = {held}(0.6, -0.8)")
                    top.bound[thing] = (RECORD, about)
            elif kind == MAKER:
                self.maker(held, top, 0)
                top.bound[held] = (MAKER, None)
            else:
                top.bound[held] = (kind, self.function(held, top, 0, kind))
        if main:
            self.put(0, "\n")
            count = self.pick.choice((1, 2))
            given = self.parameters(count)
            local = frozenset([*given, *self.parameters(6)])
            scope = Scope(top, local, dict.fromkeys(given, (NUMBER, None)))
            self.put(0, f"def f({', '.join(given)}):")
            for _ in range(self.pick.randint(2, 6)):
                self.statement(scope, 1)
            self.put(1, f"return {self.number(scope)} + {self.number(scope)}")
        own = {n: v for n, v in top.bound.items() if n not in ("np", "range", "sum")}
        return "\n".join(self.lines) + "\n", own


def program(seed: int) -> tuple[str, str]:
    """The texts of a module and of the one that it imports from."""
    writer = Writer(seed)
    other, bound = Writer(seed, writer.pick).module(None, main=False)
    text, _ = writer.module(bound, main=True)
    return text, other


def loaded(path: Path, name: str) -> types.ModuleType:
    """A module that is imported anew from its file."""
    linecache.checkcache(str(path))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def differences(f: Callable[..., float], given: list[float]) -> list[float]:
    """Central differences of two steps, the second of which is the better one; nan where they do not agree."""
    found = []
    for place in range(len(given)):
        sides = []
        for step in (1e-4, 1e-5):
            up, down = list(given), list(given)
            up[place] += step
            down[place] -= step
            sides.append((f(*up) - f(*down)) / (2 * step))
        rough, fine = sides
        found.append(fine if abs(rough - fine) < 1e-3 * max(1.0, abs(fine)) else float("nan"))
    return found


def judged(text: str, other: str, folder: Path, number: int) -> str:
    """`right`, `refused: ...`, `skipped`, or what is wrong."""
    name, base = f"names_{number}", f"names_{number}_other"
    (folder / f"{base}.py").write_text(other)
    path = folder / f"{name}.py"
    path.write_text(text.replace("OTHER", base))
    try:
        loaded(folder / f"{base}.py", base)
        f: Any = loaded(path, name).f
        given = [0.37, -0.83][: f.__code__.co_argcount]
        with np.errstate(all="ignore"):
            plain = f(*given)
            right = differences(f, given)
    except (UnboundLocalError, NameError, RecursionError, OverflowError, ZeroDivisionError, TypeError) as error:
        return f"skipped: {type(error).__name__}"
    if not np.isfinite([plain, *right]).all() or abs(plain) > 1e6 or max(map(abs, right)) > 1e6:
        return "skipped: large"
    wrt = tuple(range(len(given)))
    try:
        value, gradient = srcgrad.value_and_grad(f, wrt=wrt)(*given)
        slope = srcgrad.jvp(f, tuple(given), (1.0,) * len(given))[1]
    except DifferentiationError as error:
        why = amiss(error, path.read_text() + other)
        return f"{f'CRASH {why}' if why else 'refused'}: {error.code} {error.message}"
    except Exception as error:
        return f"CRASH {type(error).__name__}: {error}"
    if not np.isclose(value, plain, rtol=1e-9, atol=1e-12):
        return f"WRONG value {value}, plain call {plain}"
    if not np.allclose(gradient, right, rtol=1e-4, atol=1e-5):
        return f"WRONG gradient {gradient}, differences {right}"
    if not np.isclose(slope, np.sum(gradient), rtol=1e-7, atol=1e-9):
        return f"WRONG tangent {slope}, gradient {gradient}"
    return _dumped(path, name, gradient, given)


def _dumped(path: Path, name: str, gradient: Any, given: list[float]) -> str:
    words = tuple(sys.modules[name].f.__code__.co_varnames[: len(given)])
    try:
        text = dump(f"{path}:f", wrt=words).text
    except DifferentiationError as error:
        why = amiss(error, path.read_text() + path.with_name(f"{name}_other.py").read_text())
        return f"{f'CRASH of dump, {why}' if why else 'right, dump refused'}: {error.code} {error.message}"
    except Exception as error:
        return f"CRASH of dump {type(error).__name__}: {error}"
    made = path.with_name(f"{name}_grad.py")
    made.write_text(text)
    try:
        found = loaded(made, f"{name}_grad").f_grad(*given)
    except Exception as error:
        return f"WRONG dump {type(error).__name__}: {error}"
    same = np.allclose(found, gradient, rtol=1e-9, atol=1e-12)
    return "right" if same else f"WRONG dump {found}, gradient {gradient}"


def main(first: int, count: int) -> int:
    """Judge programs, print what is wrong with some of them, and a summary."""
    tally: collections.Counter[str] = collections.Counter()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        sys.path.insert(0, folder)
        for seed in range(first, first + count):
            found = judged(*program(seed), Path(folder), seed)
            tally[found.split(":")[0] if found.startswith(("WRONG", "CRASH")) else found] += 1
            if found.startswith(("WRONG", "CRASH")):
                print(seed, found, flush=True)
    for what, times in tally.most_common(40):
        print(times, what)
    return sum(times for what, times in tally.items() if what.startswith(("WRONG", "CRASH")))


if __name__ == "__main__":
    sys.exit(1 if main(int(sys.argv[1]), int(sys.argv[2])) else 0)

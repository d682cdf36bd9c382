"""Expressions of drawn programs, by the kind of their value."""

from __future__ import annotations

from collections.abc import Callable

from tests.random.kinds import INT, NUM, Class, Function, Kind, Scope, arr

UFUNCS = ("np.sin", "np.cos", "np.tanh", "np.arctan", "np.square", "np.negative", "np.exp2", "np.abs", "xp.sin")
SINGULAR = (
    ("np.sqrt({})", "{} > 0.0"),
    ("np.log({})", "{} > 0.05"),
    ("1.0 / {}", "{} != 0.0"),
    ("np.power({}, 0.5)", "{} > 0.0"),
    ("np.arccos({})", "np.abs({}) < 0.9"),
    ("np.sin({0}) / {0}", "np.abs({}) > 0.1"),
    ("np.log(np.abs({}))", "{} != 0.0"),
)


class Values:
    """Writes expressions for the place where a scope is."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.pick = scope.world.pick

    # names and parts of what they hold

    def parts(self, limit: int = 2) -> list[tuple[str, Kind, str]]:
        """Texts that read a name or a part of what it holds, their kinds, and the name."""
        found = [(name, kind, name) for name, kind in self.scope.visible()]
        level = found
        for _ in range(limit):
            level = [(text, part, name) for whole, kind, name in level for text, part in self.inside(whole, kind)]
            found = found + level
        return found

    def inside(self, text: str, kind: Kind) -> list[tuple[str, Kind]]:
        """The parts that can be read of a value."""
        if kind.tag in ("list", "tuple"):
            last = len(kind.items) - 1
            return [(f"{text}[{k if k != last else -1}]", item) for k, item in enumerate(kind.items)]
        if kind.tag == "dict":
            return [(f"{text}['{key}']", item) for key, item in zip(kind.keys, kind.items, strict=True)]
        if kind.tag == "obj":
            return [(f"{text}.{name}", item) for name, item in self.scope.world.classes[kind.name].fields]
        return []

    def named(self, wanted: Callable[[Kind], bool]) -> tuple[str, Kind] | None:
        """A name, or a part of what one holds, of a wanted kind."""
        found = [one for one in self.parts() if wanted(one[1])]
        if not found:
            return None
        text, kind, name = self.pick.choice(found)
        self.scope.use(name)
        return text, kind

    def of(self, kind: Kind, depth: int = 0) -> str:
        """An expression of that kind."""
        if depth < 2 and self.pick.random() < 0.08 and "other" not in self.scope.world.without:
            other = self.pick.choice(["{0} if {1} else {2}", "(lambda: {0})()", "(lambda a: a)({0})"])
            return f"({other.format(self.plain(kind, depth + 1), self.test(depth + 2), self.plain(kind, depth + 2))})"
        return self.plain(kind, depth)

    def plain(self, kind: Kind, depth: int) -> str:
        """An expression of that kind, no choice of two."""
        called = self.call(kind, depth) if depth < 3 and self.pick.random() < 0.3 else None
        if called is not None:
            return called
        if kind == NUM:
            return self.number(depth)
        if kind == INT:
            return self.integer(depth)
        if kind.tag == "arr":
            return self.array(kind, depth)
        known = self.named(lambda one: one == kind) if self.pick.random() < 0.4 else None
        return known[0] if known else self.display(kind, depth)

    def display(self, kind: Kind, depth: int) -> str:
        """A container, made here."""
        items = [self.of(item, depth + 1) for item in kind.items]
        if kind.tag == "list":
            return f"[{', '.join(items)}]"
        if kind.tag == "tuple":
            return f"({', '.join(items)},)"
        if kind.tag == "dict":
            if self.pick.random() < 0.2:
                return f"dict({', '.join(f'{k}={v}' for k, v in zip(kind.keys, items, strict=True))})"
            return "{" + ", ".join(f"'{k}': {v}" for k, v in zip(kind.keys, items, strict=True)) + "}"
        assert kind.tag == "obj", kind
        made: Class = self.scope.world.classes[kind.name]
        given = [self.of(item, depth + 1) for _, item in made.fields]
        keyed = self.pick.random() < 0.3
        names = [f"{name}=" if keyed else "" for name, _ in made.fields]
        return f"{self.scope.use(kind.name)}({', '.join(n + g for n, g in zip(names, given, strict=True))})"

    def call(self, kind: Kind | None, depth: int) -> str | None:
        """A call of one of the program's own functions or methods that returns that kind."""
        ways = [(name, known, name) for name, known in self.scope.callables() if known.result == kind]
        for text, whole, name in self.parts():
            if whole.tag == "obj":
                methods = self.scope.world.classes[whole.name].methods
                ways += [(f"{text}.{method}", known, name) for method, known in methods if known.result == kind]
        if not ways:
            return None
        text, known, name = self.pick.choice(ways)
        self.scope.use(name)
        return f"{text}({self.given(known, depth)})"

    def given(self, known: Function, depth: int) -> str:
        """Arguments for a call."""
        texts = []
        for k, kind in enumerate(known.parameters):
            named = self.named(lambda one, kind=kind: one == kind) if self.pick.random() < 0.7 else None
            text = named[0] if named else self.of(kind, depth + 2)
            keyed = known.keywords and k == len(known.parameters) - 1
            texts.append(f"{known.keywords[-1]}={text}" if keyed and self.pick.random() < 0.8 else text)
        if known.keywords and self.pick.random() < 0.3:
            texts.pop()
        elif texts and not known.keywords and self.pick.random() < 0.04:
            return f"*[{', '.join(texts)}]"
        return ", ".join(texts)

    # numbers

    def number(self, depth: int = 0) -> str:
        """An expression whose value is a number."""
        if depth > 2 or self.pick.random() < 0.3:
            known = self.named(lambda one: one == NUM)
            if known and self.pick.random() < 0.85:
                return known[0]
            return self.pick.choice(["0.5", "0.3", "1.5", "-0.7", "2.0", "1", "0.25"])
        ways = (self.joined, self.joined, self.mapped, self.reduced, self.reduced, self.item, self.item, self.odd)
        return self.pick.choice(ways)(depth)

    def joined(self, depth: int) -> str:
        one, two = self.number(depth + 1), self.number(depth + 1)
        form = self.pick.choice(
            ["({0} + {1})", "({0} * {1})", "({0} - {1})", "({0} * 0.5 + {1})", "({0} / (2.0 + {1} * {1}))", "max({0}, {1})",
             "(-{0})", "({0} ** 2)", "min({0}, {1} + 3.0)", "({0} % 2.0)", "({0} // 1.0 + {1})", "np.maximum({0}, {1})"]
        )  # fmt: skip
        return form.format(one, two)

    def mapped(self, depth: int) -> str:
        form = self.pick.choice(
            ["np.sin({})", "math.sin({})", "np.tanh({})", "float({})", "abs({})", "math.exp(-abs({}))", "np.float64({})",
             "sum([{}, 0.5])", "np.array({})[()]", "round(3.7) * {}", "+{}", "np.asarray({}) * 1.0", "np.sum([{}, 0.2])"]
        )  # fmt: skip
        return form.format(self.number(depth + 1))

    def reduced(self, depth: int) -> str:
        known = self.named(lambda one: one.tag == "arr" and one.numbers == "f")
        if known is None:
            return self.number(depth + 1)
        text, kind = known
        if self.pick.random() < 0.3 or not kind.shape:
            text = self.array(kind, depth + 1)
        form = self.pick.choice(
            ["np.sum({})", "np.sum({})", "{}.sum()", "np.sum({} ** 2)", "np.sum(np.abs({}))", "np.sum({0} * {0})"]
            + ["np.mean({})", "{}.mean()", "np.max({})", "({0}.ravel() @ {0}.ravel())", "np.vdot({0}, {0})"]
            * (0 not in kind.shape)
            + [
                "sum({})",
                "max({}, default=0.5)",
                "sum(t * 0.5 for t in {})",
                "sum([t * t for t in {}])",
                "np.dot({0}, {0})",
            ]
            * (len(kind.shape) == 1)
        )
        return form.format(text if form.startswith("np.") or text.isidentifier() else f"({text})")

    def item(self, depth: int) -> str:
        known = self.named(
            lambda one: one.tag == "arr" and one.shape != () and 0 not in one.shape and one.numbers == "f"
        )
        if known is None:
            return self.number(depth + 1)
        text, kind = known
        if self.pick.random() < 0.02:
            return f"{text}.item({self.pick.choice([0, 0, -1])})"
        places = [self.place(n) for n in kind.shape]
        return (
            f"{text}[{', '.join(places)}]"
            if len(places) < 2 or self.pick.random() < 0.7
            else f"{text}[{']['.join(places)}]"
        )

    def place(self, length: int) -> str:
        """An index that is in range."""
        integer = self.named(lambda one: one == INT) if self.pick.random() < 0.3 else None
        return f"{integer[0]} % {length}" if integer else self.pick.choice(["0", "-1", str(length - 1)])

    def odd(self, depth: int) -> str:
        """Forms that the reference has and few write."""
        scope, number = self.scope, self.number(depth + 1)
        forms = [
            "walrus",
            "walrus",
            "and",
            "compared",
            "sequence",
            "integer",
            "generator",
            "chosen",
            "sorted",
            "folded",
            "iterated",
        ]
        form = self.pick.choice([one for one in forms if one not in scope.world.without] or ["sequence"])
        if form == "walrus" and scope.outer is not None and depth < 2:
            name = scope.target(NUM)
            text = f"({name} := {number})"
            if name not in text.replace(f"{name} :=", "") and self.pick.random() < 0.8 and not scope.world.depth:
                scope.bind(name, NUM)
                return text
            return number
        if form == "and":
            return f"({number} and {self.number(depth + 1)})"
        if form == "compared":
            return f"({number} * ({self.test(depth + 1)}))"
        if form == "sequence":
            known = self.named(lambda one: one.tag in ("list", "tuple") and bool(one.items) and set(one.items) == {NUM})
            reading = self.pick.choice(
                ["sum({})", "max({})", "{}[-1] * len({})", "np.sum({})", "np.mean({})", "np.array({})[0]"]
            )
            return reading.replace("{}", known[0]) if known else number
        if form == "integer":
            return f"({self.integer(depth + 1)} * {number})"
        if form == "generator":
            name = self.pick.choice(["a", "b", "i", "x"])
            return f"sum({number} * 0.1 * {name} for {name} in range(3))"
        if form in ("folded", "iterated"):
            return self.folded(number, depth) if form == "folded" else self.iterated(number, depth)
        if form == "chosen":
            return f"[{number}, {self.number(depth + 1)}][{self.pick.choice(['0', '-1', 'int(' + self.test(depth + 1) + ')'])}]"
        return f"sorted([{number}, {self.number(depth + 1)}])[0]"

    def folded(self, number: str, depth: int) -> str:
        """A fold of numbers, or a choice among them by a key."""
        one, other = self.pick.sample(["a", "b", "i", "x", "s"], 2)
        items = f"[{number}, {self.number(depth + 1)}, {self.number(depth + 1)}]"
        key = self.pick.choice(["abs", f"lambda {one}: -{one}", f"lambda {one}: {one} * {one}"])
        fold = f"lambda {one}, {other}: {one} * 0.5 + {other} * {one}"
        return self.pick.choice(
            [
                f"sorted({items}, key={key})[{self.pick.choice(['0', '1', '-1'])}]",
                f"min({items}, key={key})",
                f"max({items}, key={key})",
                f"functools.reduce({fold}, {items})",
                f"functools.reduce({fold}, {items}, {self.number(depth + 1)})",
                f"sum({one} * {other} for {one}, {other} in enumerate(sorted({items}, reverse=True)))",
            ]
        )

    def iterated(self, number: str, depth: int) -> str:
        """A sum over what an iterator of `itertools` gives."""
        one, other = self.pick.sample(["a", "b", "i", "x", "s"], 2)
        items = f"[{number}, {self.number(depth + 1)}, {self.number(depth + 1)}]"
        known = self.named(
            lambda kind: kind.tag in ("list", "tuple") and len(kind.items) > 1 and set(kind.items) == {NUM}
        )
        items = known[0] if known is not None and self.pick.random() < 0.5 else items
        pairs = self.pick.choice(
            [
                f"pairwise({items})",
                f"combinations({items}, 2)",
                f"permutations({items}, 2)",
                f"product({items}, [0.3, 0.8])",
                f"product({items}, repeat=2)",
                f"zip_longest({items}, [0.3], fillvalue=0.5)",
            ]
        )
        single = self.pick.choice(
            [
                f"accumulate({items})",
                f"accumulate({items}, lambda a, b: a * b)",
                f"chain({items}, [0.7])",
                f"islice({items}, 2)",
            ]
        )
        if self.pick.random() < 0.5:
            return f"sum({one} * {other} * {other} for {one}, {other} in itertools.{pairs})"
        return f"sum({one} * {one} for {one} in itertools.{single})"

    def integer(self, depth: int = 0) -> str:
        """An expression whose value is an integer, from 0 to 5."""
        known = self.named(lambda one: one == INT)
        if known and self.pick.random() < 0.6:
            return known[0]
        sized = self.named(lambda one: one.tag in ("list", "tuple", "dict") or (one.tag == "arr" and bool(one.shape)))
        if sized and self.pick.random() < 0.3:
            return f"len({sized[0]})"
        return self.pick.choice(["0", "1", "2", "3", f"int(abs({self.number(depth + 2)})) % 4" if depth < 2 else "1"])

    def test(self, depth: int = 0) -> str:
        """A condition."""
        form = self.pick.choice(
            [
                "compare",
                "compare",
                "compare",
                "counted",
                "chain",
                "none",
                "isinstance",
                "len",
                "all",
                "not",
                "truth",
                "in",
                "const",
                "str",
            ]
        )
        if form in ("compare", "not"):
            text = f"{self.number(depth + 2)} {self.pick.choice(['>', '<', '>=', '<='])} {self.pick.choice(['0.31', '0.87', '-0.13'])}"
            return text if form == "compare" else f"not {text}"
        if form == "counted":
            return f"{self.integer(depth + 1)} {self.pick.choice(['>', '==', '<', '!='])} {self.pick.choice(['1', '2', '0'])}"
        if form == "chain":
            return f"-0.21 < {self.number(depth + 2)} < 1.17"
        if form == "none":
            return f"{self.number(depth + 2)} is {self.pick.choice(['not ', ''])}None"
        if form == "isinstance":
            return f"isinstance({self.number(depth + 2)}, (float, int))"
        if form == "str":
            known = self.named(lambda one: one.tag == "str")
            return f"{known[0]} == {self.pick.choice(['chr(97)', repr('mean'), repr('sum')])}" if known else "'a' < 'b'"
        known = self.named(lambda one: one.tag == "arr" and one.numbers == "f")
        if known is None or form in ("truth", "in", "const"):
            return self.pick.choice([f"{self.integer(1)} in (1, 2)", "True", f"{self.integer(1)}", "1 < 2 < 3"])
        return f"np.{form if form == 'all' else 'any'}({known[0]} > {self.pick.choice(['0.23', '-5.0'])})"

    # arrays

    def array(self, kind: Kind, depth: int = 0) -> str:
        """An expression whose value is an array of that shape."""
        if kind.numbers == "b":
            return self.mask(kind, depth)
        if kind.numbers == "i":
            known = self.named(lambda one: one == kind)
            return known[0] if known else self.whole(kind.shape)
        known = self.named(lambda one: one == kind)
        if known and (depth > 2 or self.pick.random() < 0.3):
            return known[0]
        if depth > 2:
            return self.pick.choice([f"np.full({kind.shape}, {self.number(4)})", f"np.ones({kind.shape})"])
        ways = [self.ufunc, self.operator, self.operator, self.operator, self.masked, self.made, self.cut, self.cut]
        ways += [self.listed] * 2 * (len(kind.shape) == 1) + [self.matrix] * 2 * (len(kind.shape) == 2)
        kept = [way for way in ways if way.__name__ not in self.scope.world.without]
        return self.pick.choice(kept or [self.operator])(kind, depth)

    def mask(self, kind: Kind, depth: int) -> str:
        """An array of truth values."""
        known = self.named(lambda one: one == kind)
        if known and self.pick.random() < 0.5:
            return self.pick.choice(["{}", "~{}"]).format(known[0])
        limit = self.pick.choice(["0.0", "0.31", "-0.2"])
        return f"({self.array(arr(*kind.shape), depth + 2)} {self.pick.choice(['>', '<', '!=', '>='])} {limit})"

    def whole(self, shape: tuple[int, ...]) -> str:
        if len(shape) == 1 and self.pick.random() < 0.5:
            return f"np.arange({shape[0]})"
        return self.pick.choice([f"np.zeros({shape}, dtype=int)", f"np.ones({shape}, dtype=int) * 2"])

    def ufunc(self, kind: Kind, depth: int) -> str:
        return f"{self.pick.choice(UFUNCS)}({self.array(kind, depth + 1)})"

    def operator(self, kind: Kind, depth: int) -> str:
        one = self.array(kind, depth + 1)
        form = self.pick.choice(["({} + {})", "({} * {})", "({} - {})", "({} * 0.5 + {})", "({1} * {0})", "np.maximum({}, {})",
                                 "({0} ** 2 + {1})", "({0} / (1.5 + {1} * {1}))", "np.multiply({}, {})", "np.hypot({} + 3.0, {})"])  # fmt: skip
        return form.format(one, self.beside(kind, depth))

    def beside(self, kind: Kind, depth: int) -> str:
        """Another operand: an array, a number, a list or a tuple."""
        shape, chance = kind.shape, self.pick.random()
        if chance < 0.35:
            return self.number(depth + 1)
        if chance < 0.5 and shape and "beside" not in self.scope.world.without:
            known = self.named(lambda one: one.tag in ("list", "tuple") and one.items == (NUM,) * shape[-1])
            return known[0] if known else f"[{', '.join(self.number(depth + 2) for _ in range(shape[-1]))}]"
        if chance < 0.6 and len(shape) == 2:
            return self.array(
                arr(self.pick.choice([shape[0], 1]), 1) if self.pick.random() < 0.5 else arr(shape[1]), depth + 1
            )
        if chance < 0.65:
            return self.array(arr(), depth + 2)
        if chance < 0.7:
            return self.array(arr(*shape, numbers="i"), depth + 2)
        return self.array(kind, depth + 1)

    def masked(self, kind: Kind, depth: int) -> str:
        """A choice by element, most often of something that is singular where it is not taken."""
        known = self.named(lambda one: one == kind)
        if known is None:
            return self.array(kind, depth + 1)
        text, (form, test) = known[0], self.pick.choice(SINGULAR)
        chosen = self.named(lambda one: one == arr(*kind.shape, numbers="b"))
        if chosen and self.pick.random() < 0.5:
            return f"np.where({chosen[0]}, {self.array(kind, depth + 2)}, {self.array(kind, depth + 2)})"
        other = self.pick.choice(["0.0", text, self.number(depth + 2), self.array(kind, depth + 2)])
        cond = test.format(text)
        made = self.pick.choice(
            ["np.where({c}, {f}, {o})", "np.where({c}, {f}, {o})", "np.select([{c}], [{f}], {o})", "np.clip({t}, -0.4, 0.6)",
             "np.where({t} > 0.3, {o}, {t})", "np.maximum({t}, 0.1)", "np.where(~({c}), {o}, {f})", "np.minimum({t}, 0.5) * {o}"]
        )  # fmt: skip
        return made.format(c=cond, f=form.format(text), o=other, t=text)

    def made(self, kind: Kind, depth: int) -> str:
        shape = kind.shape
        known = self.named(lambda one: one == kind)
        near = known[0] if known else f"np.ones({shape})"
        return self.pick.choice(
            [f"np.zeros({shape})", f"np.ones({shape})", f"np.zeros_like({near})", f"np.full({shape}, {self.number(depth + 1)})",
             f"{near}.copy()", f"np.array({near})", f"np.full_like({near}, {self.number(depth + 1)})", f"np.copy({near})",
             f"np.broadcast_to({self.number(depth + 1)}, {shape})", f"{near}.astype(float)", f"np.asarray({near})", f"+{near}"]
        )  # fmt: skip

    def cut(self, kind: Kind, depth: int) -> str:
        """A part or a view of another array."""
        shape = kind.shape
        forms: list[tuple[Kind, str]] = [(kind, "{}[...]"), (arr(1, *shape), "{}[0]"), (arr(2, *shape), "{}[-1]")]
        if shape:
            forms += [(kind, "{}[::-1]"), (kind, "{}[:]"), (arr(shape[0] + 1, *shape[1:]), "{}[1:]"), (kind, "np.roll({}, 1)"),
                      (arr(2 * shape[0], *shape[1:]), "{}[::2]"), (kind, "np.flip({})"), (kind, "np.cumsum({}, axis=0)"),
                      (kind, "np.concatenate([{0}[:1], {0}[1:]])"), (arr(*shape[::-1]), "{}.T")]  # fmt: skip
        if len(shape) == 1:
            n = shape[0]
            forms += [(arr(2, n), "{}[1]"), (arr(n, 2), "{}[:, 0]"), (arr(2, n), "np.sum({}, axis=0)"), (arr(n, 1), "{}.ravel()"),
                      (arr(n + 1), "np.diff({})"), (arr(n, n), "np.diag({})"), (kind, "np.sort({})"), (kind, "{}[np.argsort({})]")]  # fmt: skip
        if not shape:
            forms += [(arr(3), "{}.sum(keepdims=False)[...]"), (kind, "np.array({})")]
        wanted, form = self.pick.choice(forms)
        known = self.named(lambda one: one == wanted)
        text = known[0] if known else self.array(wanted, depth + 2) if wanted == kind else None
        return f"({form.replace('{0}', text).replace('{}', text)})" if text else self.array(kind, depth + 1)

    def listed(self, kind: Kind, depth: int) -> str:
        """A vector made of numbers, one by one."""
        (n,) = kind.shape
        known = self.named(lambda one: one == kind)
        lists = self.named(lambda one: one.tag in ("list", "tuple") and one.items == (NUM,) * n)
        name = self.pick.choice(["a", "b", "x", "t"])
        if lists and self.pick.random() < 0.5:
            return f"np.{self.pick.choice(['array', 'sin', 'asarray', 'stack', 'square'])}({lists[0]})"
        if known and self.pick.random() < 0.6:
            form = self.pick.choice(
                ["{n} * {n}", "np.sin({n})", "{n} if {n} > 0.22 else -{n}", "0.5 * {n} + i", "max({n}, 0.11)"]
            )
            over = f"i, {name} in enumerate({known[0]})" if " i" in form else f"{name} in {known[0]}"
            return f"np.array([{form.replace('{n}', name)} for {over}], dtype=float)"
        return f"np.array([{', '.join(self.number(depth + 1) for _ in range(n))}], dtype=float)"

    def matrix(self, kind: Kind, depth: int) -> str:
        """A matrix from vectors or other matrices."""
        m, n = kind.shape
        one, two = self.array(arr(m), depth + 2), self.array(arr(n), depth + 2)
        ways = [f"np.outer({one}, {two})", f"({one})[:, None] * {two}", f"np.tile({two}, ({m}, 1))",
                f"np.stack([{', '.join([two] * m)}])" if m else f"np.zeros(({m}, {n}))", f"np.triu({self.array(kind, depth + 1)})",
                f"np.tril({self.array(kind, depth + 1)}, -1)", f"np.array([{', '.join([two] * m)}])" if m else f"np.ones(({m}, {n}))",
                f"np.reshape({self.array(arr(m * n), depth + 2)}, ({m}, {n}))", f"({one})[:, np.newaxis] + {two}"]  # fmt: skip
        return self.pick.choice(ways)

"""Statements of drawn programs: each form of Python's reference that binds, changes, branches, repeats or calls."""

from __future__ import annotations

from collections.abc import Callable

from tests.random.kinds import COUNTERS, INT, NUM, Function, Kind, Scope, arr
from tests.random.values import Values

AUGMENTED = ("+=", "-=", "*=", "+=", "*=")


class Statements(Values):
    """Writes statements where a scope is."""

    def kind(self, simple: bool = False) -> Kind:
        """A kind of value that this program uses."""
        world = self.scope.world
        shape = world.shape
        chance = self.pick.random()
        if simple or chance < 0.75:
            other = self.pick.choice([arr(3), arr(*shape, 2), arr(*shape[:1]), arr()])
            return self.pick.choice([NUM, NUM, arr(*shape), arr(*shape), arr(*shape), other, arr(3)])
        if chance < 0.85:
            item = self.kind(simple=True)
            size = self.pick.choice([1, 2, 2, 3])
            return Kind(self.pick.choice(["list", "list", "tuple"]), items=(item,) * size)
        if chance < 0.9:
            return Kind("tuple", items=(self.kind(simple=True), self.kind(simple=True)))
        if chance < 0.95 or not world.classes:
            return Kind("dict", keys=("a", "w"), items=(self.kind(simple=True), NUM))
        return Kind("obj", name=self.pick.choice(list(world.classes)))

    def block(self, most: int = 3) -> None:
        """Some statements, indented."""
        self.scope.indent += 1
        before = len(self.scope.lines)
        for _ in range(self.pick.randint(1, most)):
            self.statement()
        if len(self.scope.lines) == before:
            self.scope.put("pass")
        self.scope.indent -= 1

    def statement(self) -> None:
        """One statement."""
        scope = self.scope
        scope.world.left -= 1
        simple: list[Callable[[], None]] = [
            self.assignment, self.assignment, self.assignment, self.chained, self.several, self.several, self.annotated,
            self.item_target, self.item_target, self.slice_target, self.mixed_target, self.starred, self.augmented,
            self.augmented, self.mask_bound, self.optional, self.bound_method, self.augmented_part, self.augmented_part, self.alias, self.alias, self.effect, self.effect,
            self.effect, self.comprehension, self.deletion, self.swap, self.lambda_bound, self.field_target, self.odd_one,
        ]  # fmt: skip
        nested: list[Callable[[], None]] = [
            self.branch, self.branch, self.branch, self.over_range, self.over_range, self.over_items, self.over_items,
            self.over_items, self.while_loop, self.with_block, self.inner_function, self.inner_function,
            self.early_return, self.counter,
        ]  # fmt: skip
        deep = scope.indent < 4 and scope.world.left > 0
        forms = nested if deep and self.pick.random() < 0.3 else simple
        kept = [form for form in forms if form.__name__ not in scope.world.without]
        self.pick.choice(kept or [self.assignment])()

    # assignments

    def assignment(self) -> None:
        kind = self.kind()
        text = self.of(kind)
        self.scope.put(f"{self.scope.bind(self.scope.target(kind), kind)} = {text}")

    def annotated(self) -> None:
        kind = self.kind(simple=True)
        text = self.of(kind)
        name = self.scope.bind(self.scope.target(kind), kind)
        self.scope.put(f"{name}: {'float' if kind == NUM else 'np.ndarray'} = {text}")

    def chained(self) -> None:
        kind = self.kind()
        text = self.of(kind)
        one, two = self.scope.target(kind), self.scope.target(kind)
        self.scope.put(f"{self.scope.bind(one, kind)} = {self.scope.bind(two, kind)} = {text}")

    def several(self) -> None:
        """Names bound at once, to several values, a tuple, an array or a call's results."""
        scope = self.scope
        known = self.named(lambda one: one.tag in ("tuple", "list") and 1 < len(one.items) < 4)
        vector = self.named(lambda one: one.tag == "arr" and bool(one.shape) and 1 < one.shape[0] < 4)
        form = self.pick.choice(["known", "vector", "new", "new", "nested", "call", "divmod"])
        called = [one for one in scope.callables() if one[1].result is not None and one[1].result.tag == "tuple"]
        if form == "call" and called:
            name, function = self.pick.choice(called)
            assert function.result is not None
            text, kinds = f"{scope.use(name)}({self.given(function, 1)})", list(function.result.items)
        elif form == "known" and known:
            text, kinds = known[0], list(known[1].items)
        elif form == "vector" and vector:
            rest = vector[1].shape[1:]
            text, kinds = vector[0], [arr(*rest) if rest else NUM] * vector[1].shape[0]
        elif form == "divmod":
            text, kinds = f"divmod({self.number(1)}, {self.pick.choice(['1.3', '2.0'])})", [NUM, NUM]
        elif form == "nested":
            inner = [self.kind(simple=True), self.kind(simple=True)]
            text = f"{self.of(NUM, 1)}, ({self.of(inner[0], 1)}, {self.of(inner[1], 1)})"
            first = scope.target(NUM)
            names = [scope.target(kind) for kind in inner]
            scope.put(f"{first}, ({names[0]}, {names[1]}) = {text}")
            for name, kind in zip([first, *names], [NUM, *inner], strict=True):
                scope.bind(name, kind)
            return
        else:
            kinds = [self.kind(simple=True) for _ in range(self.pick.choice([2, 2, 3]))]
            text = ", ".join(self.of(kind, 1) for kind in kinds)
        names = [scope.target(kind) for kind in kinds]
        left = ", ".join(names)
        scope.put(f"{self.pick.choice([left, left, f'({left})', f'[{left}]'])} = {text}")
        for name, kind in zip(names, kinds, strict=True):
            scope.bind(name, kind)

    def places(self) -> list[tuple[str, Kind, str]]:
        """Items, keys and fields that can be assigned: their texts, what they hold, and the name."""
        found = []
        for text, kind, name in self.parts(1):
            if kind.tag in ("list", "dict") or (
                kind.tag == "obj" and self.scope.world.classes[kind.name].form != "named"
            ):
                found += [(part, one, name) for part, one in self.inside(text, kind)]
            if kind.tag == "arr" and kind.shape and 0 not in kind.shape:
                inner = NUM if len(kind.shape) == 1 else arr(*kind.shape[1:])
                found.append((f"{text}[{self.pick.choice(['0', '-1', 'I'])}]", inner, name))
                if len(kind.shape) == 2:
                    found.append((f"{text}[0, -1]", NUM, name))
        return [(text.replace("I", self.place(1)), kind, name) for text, kind, name in found]

    def local_place(self) -> tuple[str, Kind] | None:
        """A place to assign, seldom one of an outer scope."""
        found = self.places()
        own = [one for one in found if one[2] in self.scope.holds]
        if self.pick.random() < 0.9:
            found = own
        if not found:
            return None
        text, kind, name = self.pick.choice(found)
        self.scope.use(name)
        return text, kind

    def item_target(self) -> None:
        place = self.local_place()
        if place is None:
            return self.assignment()
        return self.scope.put(f"{place[0]} = {self.of(place[1], 1)}")

    def field_target(self) -> None:
        known = self.named(lambda one: one.tag == "obj" and self.scope.world.classes[one.name].form != "named")
        if known is None:
            return self.assignment()
        name, kind = self.pick.choice(self.scope.world.classes[known[1].name].fields)
        operator = self.pick.choice(["=", "=", "+=", "*="])
        return self.scope.put(f"{known[0]}.{name} {operator} {self.of(kind, 1)}")

    def mixed_target(self) -> None:
        """Items and names together: `a[0], b = ...`."""
        one, two = self.local_place(), self.local_place()
        if one is None or two is None:
            return self.several()
        texts, kinds = [one[0], two[0]], [one[1], two[1]]
        if self.pick.random() < 0.5:
            kinds[1] = NUM
            texts[1] = self.scope.target(NUM)
        calls = [f for f in self.scope.callables() if f[1].result is not None and f[1].result.items == tuple(kinds)]
        if calls and self.pick.random() < 0.7:
            name, function = self.pick.choice(calls)
            right = f"{self.scope.use(name)}({self.given(function, 1)})"
        elif kinds == [NUM, NUM] and self.pick.random() < 0.3:
            vector = self.named(
                lambda one: one in (arr(2), Kind("list", items=(NUM, NUM)), Kind("tuple", items=(NUM, NUM)))
            )
            right = vector[0] if vector else f"divmod({self.number(1)}, 1.3)"
        else:
            right = ", ".join(self.of(kind, 1) for kind in kinds)
        self.scope.put(f"{', '.join(texts)} = {right}")
        if texts[1].isidentifier():
            self.scope.bind(texts[1], NUM)
        return None

    def starred(self) -> None:
        scope = self.scope
        known = self.named(lambda one: (one.tag == "arr" and len(one.shape) == 1 and one.shape[0] > 1)
                           or (one.tag in ("list", "tuple") and len(one.items) > 1))  # fmt: skip
        if known is None:
            return self.several()
        text, kind = known
        items = (NUM,) * kind.shape[0] if kind.tag == "arr" else kind.items
        place = self.local_place() if self.pick.random() < 0.2 else None
        first = place[0] if place and place[1] == items[0] else scope.target(items[0])
        rest = Kind("list", items=items[1:])
        star = scope.target(rest)
        if self.pick.random() < 0.3:
            rest, first = Kind("list", items=items[:-1]), scope.target(items[-1])
            scope.put(f"*{star}, {first} = {text}")
            scope.bind(star, rest)
            scope.bind(first, items[-1])
        else:
            scope.put(f"{first}, *{star} = {text}")
            if first.isidentifier():
                scope.bind(first, items[0])
            scope.bind(star, rest)
        return None

    def swap(self) -> None:
        scope = self.scope
        names = [name for name in scope.holds if not scope.loops and name not in scope.captured]
        if len(names) < 2:
            return self.assignment()
        one, two = self.pick.choice(names), self.pick.choice(names)
        scope.put(f"{one}, {two} = {two}, {one}")
        if one != two:
            scope.holds[one], scope.holds[two] = scope.holds[two], scope.holds[one]
        return None

    def array_name(self, rank: int = 1) -> tuple[str, Kind] | None:
        """An array that may be written into, most often one of this scope."""
        found = [one for one in self.parts(1) if one[1].tag == "arr" and len(one[1].shape) >= rank]
        own = [one for one in found if one[2] in self.scope.holds]
        chosen = own if own and self.pick.random() < 0.93 else found
        if not chosen:
            return None
        text, kind, name = self.pick.choice(chosen)
        self.scope.use(name)
        return text, kind

    def slice_target(self) -> None:
        known = self.array_name()
        if known is None:
            return self.assignment()
        text, kind = known
        n, rest = kind.shape[0], kind.shape[1:]
        forms = [("[:]", kind.shape), ("[...]", kind.shape), ("[::-1]", kind.shape), ("[1:]", (max(n - 1, 0), *rest))]
        forms += [("[:-1]", (max(n - 1, 0), *rest)), ("[::2]", ((n + 1) // 2, *rest))]
        part, shape = self.pick.choice(forms)
        operator = self.pick.choice(["=", "=", "=", *AUGMENTED])
        if self.pick.random() < 0.3:
            part, shape = f"[{text} > 0.24]", ()
            return self.scope.put(f"{text}{part} {operator} {self.number(1)}")
        if n > 1 and self.pick.random() < 0.2:
            part, shape = "[[0, -1]]", (2, *rest)
        value = self.array(arr(*shape), 1) if self.pick.random() < 0.7 else self.number(1)
        if len(shape) == 1 and self.pick.random() < 0.2:
            value = self.of(Kind("list", items=(NUM,) * shape[0]), 1)
        return self.scope.put(f"{text}{part} {operator} {value}")

    def augmented(self) -> None:
        scope = self.scope
        found = [one for one in scope.holds.items() if one[1] == NUM or one[1].tag in ("arr", "list")]
        if not found:
            return self.assignment()
        name, kind = self.pick.choice(found)
        if kind.tag == "list":
            value = self.of(kind, 1)
            scope.put(f"{name} += {value}")
            scope.holds[name] = Kind("list", items=kind.items * (1 if scope.loops else 2))
        elif kind == NUM:
            scope.put(
                f"{name} {self.pick.choice([*AUGMENTED, '**=', '/=', '%='])} {self.number(1) if self.pick.random() < 0.8 else '2.0'}"
            )
        else:
            scope.put(f"{name} {self.pick.choice(AUGMENTED)} {self.beside(kind, 1)}")
        return None

    def augmented_part(self) -> None:
        place = self.local_place()
        if place is None:
            return self.augmented()
        text, kind = place
        if kind.tag not in ("num", "arr"):
            return self.augmented()
        value = self.number(1) if kind == NUM else self.beside(kind, 1)
        return self.scope.put(f"{text} {self.pick.choice(AUGMENTED)} {value}")

    def alias(self) -> None:
        """A second name, or a view, of what has one."""
        scope = self.scope
        known = self.named(lambda one: one.tag != "int")
        if known is None:
            return self.assignment()
        text, kind = known
        if kind.tag == "arr" and self.pick.random() < 0.6:
            n = kind.shape[0] if kind.shape else 0
            views = [
                ("[...]", kind),
                ("[()]", kind if kind.shape else NUM),
                (".T", arr(*kind.shape[::-1], numbers=kind.numbers)),
            ]
            if kind.shape:
                views += [
                    ("[1:]", arr(max(n - 1, 0), *kind.shape[1:], numbers=kind.numbers)),
                    ("[::-1]", kind),
                    ("[:]", kind),
                ]
                views += [("[None]", arr(1, *kind.shape, numbers=kind.numbers))] * (len(kind.shape) == 1)
            if len(kind.shape) == 2 and n:
                views += [("[0]", arr(kind.shape[1])), ("[:, 0]", arr(n)), (".ravel()", arr(n * kind.shape[1])),
                          (".reshape(-1)", arr(n * kind.shape[1]))] * (kind.shape[1] > 0)  # fmt: skip
            part, kind = self.pick.choice(views)
            text += part
        scope.put(f"{scope.bind(scope.target(kind), kind)} = {text}")
        return None

    def mask_bound(self) -> None:
        kind = arr(*self.scope.world.shape, numbers="b")
        text = self.array(kind, 1)
        self.scope.put(f"{self.scope.bind(self.scope.target(kind), kind)} = {text}")

    def optional(self) -> None:
        """A name that holds None at first, or a text."""
        scope, pick = self.scope, self.pick
        if pick.random() < 0.4:
            kind = Kind("str")
            return scope.put(f"{scope.bind(scope.target(kind), kind)} = {pick.choice([repr('sum'), repr('mean')])}")
        kind = self.kind(simple=True)
        name = scope.target(kind)
        text = self.of(kind, 1)
        scope.holds.pop(name, None)
        scope.bound.add(name)
        scope.put(f"{name} = None")
        test = pick.choice([f"{name} is None", f"not {name}", f"{name} == None"])
        scope.put(f"if {test}:")
        scope.put(f"    {name} = {text}")
        scope.bind(name, kind)
        return None

    def bound_method(self) -> None:
        """A method under a name of its own, called later."""
        scope = self.scope
        if scope.indent > 1:
            return self.assignment()
        ways = [(f"{text}.{method}", known, name) for text, kind, name in self.parts(1) if kind.tag == "obj"
                for method, known in scope.world.classes[kind.name].methods]  # fmt: skip
        ways += [
            (f"{name}.sum", Function((), NUM), name)
            for name, kind in scope.visible()
            if kind.tag == "arr" and kind.numbers == "f"
        ]
        ways += [(name, known, name) for name, known in scope.callables()] * 2
        if not ways:
            return self.assignment()
        text, known, read = self.pick.choice(ways)
        scope.use(read)
        name = self.pick.choice(
            [one for one in ("g", "h", "mean", "a", "b") if one not in scope.read and one not in scope.captured]
            or ["u"]
        )
        scope.put(f"{name} = {text}")
        scope.holds.pop(name, None)
        scope.functions[name] = known
        scope.bound.add(name)
        return None

    def comprehension(self) -> None:
        scope = self.scope
        known = self.named(
            lambda one: (
                (one.tag == "arr" and len(one.shape) == 1) or (one.tag in ("list", "tuple") and set(one.items) == {NUM})
            )
        )
        inner = self.pick.choice(["a", "b", "x", "s", "t"])
        size = (len(known[1].items) or known[1].shape[0]) if known else 2
        over = f"{inner} in {known[0]}" if known else f"{inner} in range(2)"
        form = self.pick.choice(
            [f"0.5 * {inner}", f"np.sin({inner})", f"{inner} * {self.number(2)}", f"({inner} + {inner})"]
        )
        if self.pick.random() < 0.2:
            kind = Kind("dict", keys=("a", "w"), items=(NUM, NUM))
            text = f"{{{inner}: {self.number(2)} for {inner} in ('a', 'w')}}"
        else:
            kind, text = Kind("list", items=(NUM,) * size), f"[{form} for {over}]"
        scope.put(f"{scope.bind(scope.target(kind), kind)} = {text}")

    # calls for their effect

    def effect(self) -> None:
        scope = self.scope
        mine = [one for one in scope.callables() if one[1].result is None]
        objects = [(f"{text}.{method}", known, name) for text, kind, name in self.parts(1) if kind.tag == "obj"
                   for method, known in scope.world.classes[kind.name].methods if known.result is None]  # fmt: skip
        ways = [(name, known, name) for name, known in mine] + objects
        if ways and self.pick.random() < 0.6:
            text, known, name = self.pick.choice(ways)
            scope.use(name)
            return scope.put(f"{text}({self.given(known, 1)})")
        forms = [self.list_effect, self.list_effect, self.array_effect, self.array_effect, self.dict_effect]
        return self.pick.choice(
            [form for form in forms if form.__name__ not in scope.world.without] or [self.assignment]
        )()

    def list_effect(self) -> None:
        found = [
            one
            for one in self.scope.holds.items()
            if one[1].tag == "list" and one[1].items and len(set(one[1].items)) == 1
        ]
        if not found:
            kind = Kind("list", items=(self.kind(simple=True),) * 2)
            return self.scope.put(f"{self.scope.bind(self.scope.target(kind), kind)} = {self.of(kind, 1)}")
        name, kind = self.pick.choice(found)
        form = self.pick.choice(["append", "append", "append", "extend", "insert", "reverse", "pop"])
        item = self.of(kind.items[0], 1)
        grown = kind.items if self.scope.loops else kind.items[:1] + kind.items
        if form == "pop" and (len(kind.items) < 2 or self.scope.loops):
            form = "append"
        if form == "append":
            self.scope.put(f"{name}.append({item})")
        elif form == "extend":
            self.scope.put(f"{name}.extend([{item}])")
        elif form == "insert":
            self.scope.put(f"{name}.insert(0, {item})")
        elif form == "reverse":
            self.scope.put(f"{name}.reverse()")
            grown = kind.items
        else:
            bound = self.pick.random() < 0.6
            target = f"{self.scope.bind(self.scope.target(kind.items[0]), kind.items[0])} = " if bound else ""
            self.scope.put(f"{target}{name}.pop({self.pick.choice(['', '0', '-1'])})")
            grown = kind.items[1:]
        if name in self.scope.holds and self.scope.holds[name] == kind:
            self.scope.holds[name] = Kind("list", items=grown)
        return None

    def array_effect(self) -> None:
        known = self.array_name()
        if known is None:
            return self.assignment()
        text, kind = known
        form = self.pick.choice(["fill", "sort", "add.at", "copyto", "out", "put", "setitem", "where"])
        if form == "fill":
            return self.scope.put(f"{text}.fill({self.number(1)})")
        if form == "sort" and len(kind.shape) == 1:
            return self.scope.put(f"{text}.sort()")
        if form == "add.at" and kind.shape and kind.shape[0] and len(kind.shape) == 1:
            return self.scope.put(f"np.add.at({text}, [0, 0, -1], {self.number(1)})")
        if form == "copyto":
            return self.scope.put(f"np.copyto({text}, {self.array(kind, 1)})")
        if form == "where":
            return self.scope.put(f"np.sqrt(np.abs({text}), out={text}, where={text} > 0.3)")
        if form == "out":
            return self.scope.put(f"np.multiply({text}, {self.beside(kind, 1)}, out={text})")
        return self.slice_target()

    def dict_effect(self) -> None:
        found = [one for one in self.scope.holds.items() if one[1].tag == "dict"]
        if not found:
            kind = Kind("dict", keys=("a", "w"), items=(self.kind(simple=True), NUM))
            return self.scope.put(f"{self.scope.bind(self.scope.target(kind), kind)} = {self.of(kind, 1)}")
        name, kind = self.pick.choice(found)
        key = self.pick.choice(kind.keys)
        value = self.of(kind.items[kind.keys.index(key)], 1)
        form = self.pick.choice(
            [f"update({key}={value})", f"update({{'{key}': {value}}})", f"setdefault('{key}', {value})"]
        )
        return self.scope.put(f"{name}.{form}")

    def deletion(self) -> None:
        names = [
            name
            for name in self.scope.holds
            if not self.scope.loops and self.scope.indent == 1 and name not in self.scope.captured
        ]
        if len(names) < 4:
            return self.assignment()
        name = self.pick.choice(names)
        del self.scope.holds[name]
        return self.scope.put(f"del {name}")

    def odd_one(self) -> None:
        scope = self.scope
        form = self.pick.choice(
            ["assert", "doc", "import", "pass", "bare", "integer", "integer", "integer", "module", "module"]
        )
        form = form if self.pick.random() < 0.95 else "expression"
        if form == "assert":
            scope.put(f"assert {self.number(2)} < 1e9, 'large'")
        elif form == "doc":
            scope.put("'text that nothing reads'")
        elif form == "import":
            scope.put("import math")
        elif form == "expression":
            scope.put(self.number(1))
        elif form == "pass":
            scope.put("pass")
        elif form == "bare":
            scope.put("_ = None")
        elif form == "integer":
            text = self.integer(0)
            scope.put(f"{scope.bind(scope.target(INT, COUNTERS), INT)} = {text}")
        elif scope.outer is not None and "xp" not in scope.read:
            scope.bound.add("xp")
            scope.put("xp = np")

    # blocks

    def branch(self) -> None:
        scope = self.scope
        before, held = dict(scope.holds), []
        scope.put(f"if {self.test()}:")
        self.block()
        held.append(scope.holds)
        if self.pick.random() < 0.3:
            scope.holds = dict(before)
            scope.put(f"elif {self.test()}:")
            self.block(2)
            held.append(scope.holds)
        scope.holds = dict(before)
        if self.pick.random() < 0.6:
            scope.put("else:")
            self.block(2)
        held.append(scope.holds)
        scope.holds = {k: v for k, v in held[0].items() if all(one.get(k) == v for one in held)}

    def body(self, most: int = 3) -> None:
        """The body of a loop, with a way out of it at times."""
        scope = self.scope
        before = dict(scope.holds)
        scope.loops += 1
        self.block(most)
        if self.pick.random() < 0.25:
            scope.put(f"    if {self.test(1)}:")
            scope.put(f"        {self.pick.choice(['break', 'continue', 'break'])}")
            scope.indent += 1
            self.statement()
            scope.indent -= 1
        scope.loops -= 1
        inside = scope.holds
        scope.holds = {k: v for k, v in before.items() if inside.get(k) == v}
        if self.pick.random() < 0.12:
            scope.put("else:")
            self.block(2)
            scope.holds = {k: v for k, v in before.items() if inside.get(k) == v and scope.holds.get(k) == v}

    def over_range(self) -> None:
        scope = self.scope
        count = self.pick.choice(["2", "3", "1, 3", "0", "2, -1, -1"])
        integer = self.named(lambda one: one == INT)
        count = integer[0] if integer and self.pick.random() < 0.4 else count
        name = "_"
        if self.pick.random() < 0.75:
            name = scope.bind(scope.target(INT, COUNTERS), INT)
        scope.put(f"for {name} in range({count}):")
        self.body()

    def over_items(self) -> None:
        scope = self.scope
        known = self.named(lambda one: (one.tag == "arr" and bool(one.shape)) or (one.tag in ("list", "tuple") and len(set(one.items)) == 1)
                           or one.tag == "dict")  # fmt: skip
        if known is None:
            return self.over_range()
        text, kind = known
        if kind.tag == "dict":
            name = scope.target(NUM)
            if len(set(kind.items)) > 1 or self.pick.random() < 0.2:
                scope.put(f"for key in {text}:")
                scope.put(f"    assert key in {text}")
                return None
            scope.put(f"for {self.pick.choice([f'key, {name} in {text}.items()', f'{name} in {text}.values()'])}:")
            scope.bind(name, kind.items[0])
            return self.body()
        rest = kind.shape[1:]
        item = kind.items[0] if kind.items else (arr(*rest) if rest else NUM if kind.numbers == "f" else INT)
        pool = (
            (text,)
            if text.isidentifier() and text not in scope.read and self.pick.random() < 0.1 and text in scope.holds
            else None
        )
        name = scope.target(item, pool) if pool else scope.target(item)
        form = self.pick.choice(
            [
                "{n} in {t}",
                "{n} in {t}",
                "i, {n} in enumerate({t})",
                "{n}, {o} in zip({t}, {t}[::-1])",
                "{n} in reversed({t})",
            ]
        )
        other = scope.target(item) if "{o}" in form else ""
        if other == name:
            form = "{n} in {t}"
        scope.put(f"for {form.format(n=name, t=text, o=other)}:")
        for one in [name, *([other] if "{o}" in form else [])]:
            scope.bind(one, item)
        self.body()
        return None

    def while_loop(self) -> None:
        scope = self.scope
        name = scope.bind(scope.target(INT, COUNTERS), INT)
        scope.put(f"{name} = 0")
        scope.put(f"while {name} < {self.pick.choice(['2', '3', '1'])}:")
        scope.put(f"    {name} += 1")
        self.body()

    def with_block(self) -> None:
        chance = self.pick.random()
        if chance < 0.94:
            self.scope.put("with np.errstate(all='ignore'):")
            self.block()
        elif chance < 0.98:
            self.scope.put("try:")
            self.block(2)
            self.scope.put("except ZeroDivisionError:")
            self.scope.put("    pass")
        else:
            self.scope.put(f"match {self.integer()}:")
            self.scope.put("    case 1:")
            self.scope.put("        pass")

    def early_return(self) -> None:
        scope = self.scope
        if scope.returns is None or scope.outer is None:
            return self.branch()
        scope.put(f"if {self.test()}:")
        scope.put(f"    return {self.of(scope.returns, 1)}")
        return None

    # functions in functions

    def lambda_bound(self) -> None:
        scope = self.scope
        if scope.indent > 1:
            return self.assignment()
        name = self.pick.choice(
            [one for one in ("g", "h", "mean", "a", "b") if one not in scope.read and one not in scope.captured]
            or ["u"]
        )
        kind = self.pick.choice([NUM, arr(*scope.world.shape)])
        inner = self.pick.choice(["a", "x", "t"])
        form = self.pick.choice(["{a} * {n}", "np.sin({a}) * {n}", "{a} + {a}", "np.sin"])
        if form == "np.sin":
            scope.put(f"{name} = {self.pick.choice(['np.sin', 'np.tanh', 'np.square'])}")
        else:
            body = form.format(a=inner, n=self.number(2))
            scope.put(f"{name} = lambda {inner}: {body}")
        scope.holds.pop(name, None)
        scope.functions[name] = Function((kind,), kind)
        scope.bound.add(name)
        return None

    def inner_function(self) -> None:
        scope = self.scope
        if scope.indent > 1 or scope.world.depth > 1:
            return self.branch()
        name = self.pick.choice(
            [one for one in ("g", "h", "sum", "mean", "d") if one not in scope.read and one not in scope.captured]
            or ["u"]
        )
        scope.holds.pop(name, None)
        scope.bound.add(name)
        known = written(self, name, self.pick.choice([NUM, arr(*scope.world.shape), NUM, None]))
        scope.functions[name] = known
        return None

    def counter(self) -> None:
        """A nested function that changes a variable of this one."""
        scope = self.scope
        found = [name for name, kind in scope.holds.items() if kind == NUM]
        if scope.indent > 1 or not found:
            return self.effect()
        name = self.pick.choice(
            [one for one in ("g", "add", "append") if one not in scope.read and one not in scope.captured] or ["u"]
        )
        total, inner = self.pick.choice(found), self.pick.choice(["a", "t", "x"])
        if total in (inner, name):
            inner = "t"
        scope.put(f"def {name}({inner}):")
        scope.put(f"    nonlocal {total}" if scope.outer is not None else f"    global {total}")
        scope.put(f"    {total} {self.pick.choice(['+=', '*=', '='])} {inner} * 0.5")
        returned = self.pick.random() < 0.5
        if returned:
            scope.put(f"    return {total}")
        scope.holds.pop(name, None)
        scope.captured.add(total)
        scope.bound.add(name)
        scope.functions[name] = Function((NUM,), NUM if returned else None)
        return None


def written(outside: Values, name: str, result: Kind | None) -> Function:
    """Write a function into the scope of `outside`; what is known of it."""
    scope, pick = outside.scope, outside.pick
    inner = Scope(scope.world, scope, indent=scope.indent + 1, returns=result)
    writer = Statements(inner)
    count = pick.choice([1, 1, 2, 2, 3])
    kinds = [writer.kind(simple=pick.random() < 0.7) for _ in range(count)]
    if result is None:
        kinds[0] = pick.choice(
            [arr(*scope.world.shape), Kind("list", items=(NUM, NUM)), Kind("dict", keys=("a", "w"), items=(NUM, NUM))]
        )
    names: list[str] = []
    for kind in kinds:
        names.append(pick.choice([one for one in ("a", "b", "c", "x", "s", "t") if one not in names]))
        inner.bind(names[-1], kind)
    keywords: tuple[str, ...] = ()
    head = ", ".join(names)
    if count > 1 and kinds[-1] == NUM and pick.random() < 0.5:
        outer = [one for one, held in scope.holds.items() if held == NUM]
        default = pick.choice(["0.5", "1.0", "0.7 + 0.1", *outer])
        star = "*, " if pick.random() < 0.4 else ""
        head, keywords = f"{', '.join(names[:-1])}, {star}{names[-1]}={default}", (names[-1],)
        if star:
            keywords = (names[-1],)
    scope.put(f"def {name}({head}):")
    scope.world.depth += 1
    for _ in range(pick.choice([1, 1, 2, 3])):
        writer.statement()
    if result is not None:
        inner.put(f"return {writer.of(result, 1)}")
    elif pick.random() < 0.8:
        change(writer, names[0], kinds[0])
    scope.world.depth -= 1
    scope.lines += inner.lines or ["    " * inner.indent + "pass"]
    return Function(tuple(kinds), result, keywords)


def change(writer: Statements, name: str, kind: Kind) -> None:
    """A statement that changes an argument."""
    if writer.scope.holds.get(name) != kind:
        return
    value = writer.number(1)
    forms = {
        "arr": [f"{name}[...] *= {value}", f"{name} += {value}", f"{name}[:1] = {value}"],
        "list": [f"{name}.append({value})", f"{name}[0] = {value}", f"{name} += [{value}]"],
        "dict": [f"{name}['a'] = {value}", f"{name}.update(w={value})", f"{name}['w'] += {value}"],
    }[kind.tag]
    writer.scope.put(writer.pick.choice(forms))

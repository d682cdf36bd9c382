"""Whole programs: globals, classes with misleading names, helpers, the function and its arguments."""

from __future__ import annotations

import random

from tests.random.kinds import INT, MISLEADING, NAMES, NUM, Class, Function, Kind, Scope, World, arr
from tests.random.statements import Statements, written

HEAD = "import dataclasses\nimport functools\nimport itertools\nimport math\nimport typing\n\nimport numpy as np\nimport numpy as xp\nfrom numpy import linalg as la\n\n"
SHAPES = ((3,), (3,), (3,), (3,), (2,), (2,), (4,), (2, 3), (2, 2), (1,), (3, 1), (1, 2), (0,), ())


# Forms of which a program may have none, and how likely that is: the likelier, the more often they are refused.
FORMS = {
    "chained": 0.5, "several": 0.3, "annotated": 0.5, "item_target": 0.4, "slice_target": 0.5, "mixed_target": 0.5, "starred": 0.6,
    "augmented": 0.3, "augmented_part": 0.5, "alias": 0.4, "effect": 0.5, "list_effect": 0.5, "array_effect": 0.6, "dict_effect": 0.6,
    "comprehension": 0.4, "deletion": 0.7, "swap": 0.6, "lambda_bound": 0.6, "field_target": 0.6, "odd_one": 0.4, "with_block": 0.6,
    "inner_function": 0.5, "counter": 0.6, "early_return": 0.4, "while_loop": 0.5, "over_items": 0.4, "over_range": 0.4,
    "walrus": 0.6, "generator": 0.7, "sorted": 0.7, "folded": 0.4, "iterated": 0.4, "chosen": 0.5, "other": 0.5, "beside": 0.4, "masked": 0.4, "matrix": 0.3,
    "cut": 0.3, "listed": 0.3, "mask_bound": 0.4, "optional": 0.6, "bound_method": 0.6,
}  # fmt: skip


def program(seed: int) -> str:
    """The text of a program that defines `f`, and `arguments()`, which makes its arguments anew."""
    pick = random.Random(seed)
    world = World(
        pick, pick.choice(SHAPES), without=frozenset(form for form, chance in FORMS.items() if pick.random() < chance)
    )
    module = Scope(world)
    for number in range(pick.choice([0, 1, 1, 2])):
        definition(module, ("Box", "Pair")[number])
    for _ in range(pick.choice([0, 1, 2, 3])):
        constant(module)
    writer = Statements(module)
    for number in range(pick.choice([0, 1, 1, 2, 2])):
        world.left = 4
        name = (pick.choice(["g", "mean", "sum"]), pick.choice(["h", "scale", "dot"]))[number]
        pair = Kind("tuple", items=(pick.choice([NUM, arr(*world.shape)]), NUM))
        result = pick.choice([NUM, arr(*world.shape), NUM, pair, None])
        module.functions[name] = written(writer, name, result)
        module.lines.append("")
    return HEAD + "\n".join([*module.lines, *function(module)]) + "\n"


def definition(module: Scope, name: str) -> None:
    """Write a class, whose methods are named like those of arrays, lists and dicts."""
    world, pick = module.world, module.world.pick
    form = pick.choice(["plain", "dataclass", "named"])
    fields = (
        (pick.choice(["w", "T", "size"]), NUM),
        (pick.choice(["a", "b", "real"]), pick.choice([NUM, arr(*world.shape)])),
    )
    if form == "plain":
        module.put(f"class {name}:")
        names = ", ".join(field for field, _ in fields)
        module.put(f"    def __init__(self, {names}):")
        for field, _ in fields:
            module.put(f"        self.{field} = {field}")
    else:
        module.put("@dataclasses.dataclass" if form == "dataclass" else "")
        module.put(f"class {name}{'' if form == 'dataclass' else '(typing.NamedTuple)'}:")
        for field, kind in fields:
            module.put(f"    {field}: {'float' if kind == NUM else 'np.ndarray'}")
    methods: list[tuple[str, Function]] = []
    taken = [field for field, _ in fields]
    for _ in range(pick.choice([1, 2, 2])):
        method = pick.choice([one for one in MISLEADING if one not in taken])
        taken.append(method)
        module.put("")
        methods.append((method, method_of(module, method, fields, form)))
    module.put("")
    world.classes[name] = Class(name, form, fields, tuple(methods))


def method_of(module: Scope, name: str, fields: tuple[tuple[str, Kind], ...], form: str) -> Function:
    """Write a method: of a number or an array, or for its effect."""
    world, pick = module.world, module.world.pick
    inner = Scope(world, module, indent=2)
    inner.bound |= {"self"}
    kind = pick.choice([NUM, arr(*world.shape)])
    other = pick.choice(["a", "x", "t"])
    inner.bind(other, kind)
    field, held = pick.choice(fields)
    if form != "named" and pick.random() < 0.35:
        module.put(f"    def {name}(self, {other}):")
        factor = f"{other}" if held == kind else f"np.sum({other})"
        module.put(f"        self.{field} {pick.choice(['+=', '*=', '='])} {factor} * 0.5")
        if held.tag == "arr" and kind != held:
            module.lines[-1] = f"        self.{field} = self.{field} + {factor}"
        return Function((kind,), None)
    if pick.random() < 0.25:
        module.put(f"    def {name}(self):")
        module.put(f"        return np.sum(self.{field}) * 0.5 + self.{fields[0][0]}")
        return Function((), NUM)
    module.put(f"    def {name}(self, {other}):")
    writer = Statements(inner)
    for _ in range(pick.choice([0, 0, 1])):
        world.left = 0
        writer.statement()
    module.lines += inner.lines
    part = f"self.{fields[0][0]}"
    text = other if inner.holds.get(other) == kind else "1.0"
    module.put(
        f"        return {pick.choice([f'{text} * {part}', f'np.sin({text}) + {part}', f'{text} + {text} * {part}'])}"
    )
    return Function((kind,), kind)


def constant(module: Scope) -> None:
    """Write a global, under a name that functions use as well."""
    world, pick = module.world, module.world.pick
    forms = [(NUM, "0.7"), (NUM, "1.3"), (arr(*world.shape), data(world, world.shape)), (Kind("list", items=(NUM, NUM)), "[0.4, 0.9]"),
             (Kind("dict", keys=("a", "w"), items=(NUM, NUM)), "{'a': 0.3, 'w': 0.8}"), (arr(3, numbers="i"), "np.array([1, 2, 0])"),
             (Kind("tuple", items=(NUM, NUM)), "(0.6, 0.2)")]  # fmt: skip
    for name, made in world.classes.items():
        values = ", ".join("0.6" if kind == NUM else data(world, world.shape) for _, kind in made.fields)
        forms += [(Kind("obj", name=name), f"{name}({values})")] * 2
    kind, text = pick.choice(forms)
    name = pick.choice(
        [one for one in (*NAMES, "w", "model") if one not in module.holds and one not in module.functions]
    )
    module.put(f"{module.bind(name, kind)} = {text}")
    module.put("")


def data(world: World, shape: tuple[int, ...]) -> str:
    """An array of numbers, some of them 0 at times."""
    pick = world.pick
    zeros = pick.random() < 0.25

    def numbers(left: tuple[int, ...]) -> str:
        if not left:
            number = round(pick.uniform(0.15, 1.2), 2) * pick.choice([1, 1, -1])
            return "0.0" if zeros and pick.random() < 0.5 else str(number)
        return f"[{', '.join(numbers(left[1:]) for _ in range(left[0]))}]"

    return f"np.array({numbers(shape)}, dtype=float)" + (f".reshape({shape})" if 0 in shape else "")


def first_argument(world: World) -> str:
    """The text of an array: contiguous or not, of either precision."""
    pick, shape = world.pick, world.shape
    form = pick.choice(["plain"] * 6 + ["strided", "turned", "float32", "readonly"])
    if form == "strided" and shape:
        return data(world, (2 * shape[0], *shape[1:])) + "[::2]"
    if form == "turned" and shape:
        return data(world, shape[::-1]) + ".T"
    if form == "float32":
        return data(world, shape) + ".astype(np.float32)"
    return data(world, shape)


def container(world: World) -> tuple[Kind, str]:
    """What the third argument is."""
    pick, shape = world.pick, world.shape
    first = pick.choice(
        [data(world, shape), "x0", "x0", data(world, shape)] if pick.random() < 0.3 else [data(world, shape)]
    )
    array = arr(*shape)
    forms = [(Kind("list", items=(NUM, NUM)), "[0.4, 1.1]"), (Kind("list", items=(array, array)), f"[{first}, {data(world, shape)}]"),
             (Kind("tuple", items=(NUM, array)), f"(0.9, {first})"), (Kind("dict", keys=("a", "w"), items=(array, NUM)), f"{{'a': {first}, 'w': 0.6}}"),
             (array, first), (INT, "2"), (NUM, "0.8"), (Kind("dict", keys=("a", "w"), items=(NUM, NUM)), "{'a': 0.35, 'w': -0.6}"),
             (arr(2, 3), data(world, (2, 3))), (arr(3, numbers="i"), "np.array([2, 0, 1])")]  # fmt: skip
    for name, made in world.classes.items():
        if made.form != "plain":
            values = ", ".join("0.6" if kind == NUM else data(world, shape) for _, kind in made.fields)
            forms += [(Kind("obj", name=name), f"{name}({values})")] * 3
    return pick.choice(forms)


def function(module: Scope) -> list[str]:
    """The lines of `f` and `arguments`."""
    world, pick = module.world, module.world.pick
    world.left, world.depth = pick.choice([3, 6, 12]), 0
    kind, third = container(world)
    second = pick.choice(["0.8", "0.8", "np.float64(0.45)", "np.array(0.6)", "-0.35", "np.float32(0.7)"])
    kinds = [arr(*world.shape), arr() if "array" in second else NUM, kind]
    inner = Scope(world, module, indent=1, returns=NUM)
    names: list[str] = []
    for one in kinds:
        names.append(pick.choice([name for name in ("x", "a", "b", "c", "s") if name not in names]))
        inner.bind(names[-1], one)
    writer = Statements(inner)
    for _ in range(pick.randint(2, 7)):
        writer.statement()
    inner.put(f"return {result(writer)}")
    head = ["", f"def f({', '.join(names)}):", *inner.lines, "", "", "def arguments():"]
    shared = [name for name, held in module.holds.items() if held == arr(*world.shape)]
    first = pick.choice(shared) if shared and pick.random() < 0.15 else first_argument(world)
    return [*head, f"    x0 = {first}", f"    return x0, {second}, {third}"]


def result(writer: Statements) -> str:
    """A number made of much that the names hold at the end."""
    terms = [writer.number(1)]
    found = [one for one in writer.parts() if one[2] in writer.scope.holds and one[1].tag in ("num", "arr")]
    for _ in range(min(len(found), writer.pick.choice([2, 3, 4, 6]))):
        text, kind, name = writer.pick.choice(found)
        writer.scope.use(name)
        terms.append(f"np.sum({text} * {writer.pick.choice(['0.7', '1.0', text])})" if kind.tag == "arr" else text)
    return " + ".join(dict.fromkeys(terms))

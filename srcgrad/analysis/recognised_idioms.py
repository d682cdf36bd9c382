"""Idioms that are one operation for a derivative: the logistic function, shifts of exponentials.

`1.0 / (1.0 + np.exp(u))` has a derivative that reads its result alone: docs/decisions/logistic.md. A shift keeps `exp`
from overflowing: a largest value, taken off and given back. Values of expressions have words, by which temporaries get
their names: `sin_angle`, `one_minus_share`.
"""

from __future__ import annotations

import re
from collections import Counter

import gast
import numpy as np

from srcgrad.core.facts import Facts, Operation, function_called
from srcgrad.core.identity import record, replace
from srcgrad.core.rules import Rule, rule_of
from srcgrad.core.trees import BLOCKS, Block, Node, loads, statements, stores, target, written_names
from srcgrad.core.visitor import blocks
from srcgrad.runtime import sum_to
from srcgrad.runtime.singular import falling


def recognise_logistic(function: Node, facts: Facts) -> Node:
    """Let the quotient be an operation on u, where nothing else reads the exponential or the sum.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> print(explain_text("def f(x):\\n    return 1.0 / (1.0 + np.exp(-x))", after="simplify").splitlines()[-2])
    x_bar = y_bar * y * (1.0 - y)
    """
    order = statements(function.body)
    if all(_denominator(node, facts) is None for node in order):
        return function
    read: dict[str, int] = {}
    for node in order:
        for one in loads(node):
            read[one] = read.get(one, 0) + 1
    for holder in [function, *order]:
        for field in BLOCKS:
            _block(getattr(holder, field, None) or [], read, facts)
    return function


def _block(block: Block, read: dict[str, int], facts: Facts) -> None:
    """Look for the three operations among the statements of one block."""
    places: dict[str, int] = {}
    for place, node in enumerate(block):
        below = _denominator(node, facts)
        total = _definition_in_block(below, block, places, read, facts)
        power = None if total is None else _definition_in_block(_beside_one(total, facts), block, places, read, facts)
        operand = None if power is None else _exponent(power, facts)
        if (
            power is not None
            and operand is not None
            and _stays(operand.id, block[places[str(target(power))] : place], facts)
        ):
            rule = rule_of(falling)
            assert rule is not None, "the families of NumPy are loaded before anything is analysed"
            facts.resolution.operation[node.value] = Operation("op", falling, rule, {"x": operand})
        if (bound := target(node)) is not None:
            places[bound] = place


def _definition_in_block(
    operand: Node | None, block: Block, places: dict[str, int], read: dict[str, int], facts: Facts
) -> Node | None:
    """The statement of this block that binds an operand, if that is bound and read once, and nothing changes it."""
    bound = getattr(operand, "id", "")
    if bound not in places or read[bound] != 1 or bound not in facts.activity.definition:
        return None
    if bound in facts.memory.mutable or bound in facts.request.inner or bound in facts.resolution.checked:
        return None
    return block[places[bound]]


def _denominator(node: Node, facts: Facts) -> Node | None:
    """What 1 is divided by."""
    operation = _operation(node, facts)
    if operation is None or target(node) is None:
        return None
    if operation.function is np.reciprocal:
        return operation.bound.get("x")
    return operation.bound["y"] if operation.function is np.divide and _is_one(operation.bound["x"]) else None


def _beside_one(node: Node, facts: Facts) -> Node | None:
    """What 1 is added to."""
    operation = _operation(node, facts)
    if operation is None or operation.function is not np.add:
        return None
    left, right = operation.bound["x"], operation.bound["y"]
    return right if _is_one(left) else left if _is_one(right) else None


def _exponent(node: Node, facts: Facts) -> Node | None:
    """The name u in `np.exp(u)`."""
    operation = _operation(node, facts)
    if operation is None or operation.rule is not rule_of(np.exp):
        return None
    operand = operation.bound.get("x")
    return operand if isinstance(operand, gast.Name) and operand.id in facts.activity.active else None


def _operation(node: Node, facts: Facts) -> Operation | None:
    """The operation of an assignment, if it is one of the table with its plain arguments."""
    found = facts.operation_of(node)
    plain = found is not None and found.kind == "op" and found.bound.keys() <= {"x", "y"}
    return found if plain else None


def _is_one(node: Node) -> bool:
    return isinstance(node, gast.Constant) and type(node.value) in (int, float) and node.value == 1


def _stays(operand: str, between: Block, facts: Facts) -> bool:
    """Whether a name holds the same from the exponential on to the quotient, for adjoints too."""
    changed = {one for node in statements(between) for one in (*stores(node), *written_names(node))}
    return not changed & facts.names_and_bases([operand])


MISSING = object()


@record(frozen=True)
class ShiftDegree:
    """How a value changes with c: it grows by `degree * c`, or by the factor `exp(degree * c)`.

    `form` is whole (it has the axis over which c was taken), kept (that axis has length 1), flat (that axis was the
    first, or there was none, and is gone), dropped (any other that is gone), or loose: another operand may have brought
    further axes. All but the dropped ones broadcast against the whole.
    """

    degree: int
    factor: bool
    form: str


def note_shifts(function: Node, facts: Facts) -> Node:
    """Find each `c = np.max(z, ...)` on which nothing depends: all that reads it is as it would be for any other c.

    `log(sum(exp(z - c))) + c` and `exp(z - c) / sum(exp(z - c))` do not change when c does, so no adjoint flows to c.

    >>> from srcgrad.interface.show.explain import explain_facts
    >>> text = "def f(z):\\n    c = np.max(z)\\n    return np.log(np.sum(np.exp(z - c))) + c"
    >>> list(explain_facts(text).idioms.shifts)
    ['c']
    """
    order = statements(function.body)
    if all(_largest_value(node, facts) is None for node in order):
        return function
    reads = Counter(name for node in order for name in loads(node))
    bound = Counter(name for node in order for name in stores(node))
    for block in blocks(function.body):
        for place, node in enumerate(block):
            largest = _largest_value(node, facts)
            if largest is not None and _cancels(block[place:], largest, reads, bound, facts):
                facts.idioms.shifts[node.targets[0].id] = None
    return function


def _largest_value(node: Node, facts: Facts) -> Operation | None:
    """The operation, if a statement binds a name to a largest value that no derivative was asked of."""
    operation = _operation_bound(node, facts)
    if operation is None or operation.function is not np.max or node.targets[0].id in facts.request.wrt:
        return None
    plain = set(operation.bound) <= {"a", "axis", "keepdims"} and isinstance(operation.bound["a"], gast.Name)
    return operation if plain and _axis(operation) is not MISSING and _keeps(operation) is not None else None


def _operation_bound(node: Node, facts: Facts) -> Operation | None:
    if not isinstance(node, gast.Assign) or not isinstance(node.targets[0], gast.Name):
        return None
    found = facts.resolution.operation.get(node.value)
    return found if found is not None and found.kind == "op" else None


def _axis(operation: Operation) -> object:
    """The axis of a reduction; MISSING if it is no literal."""
    node = operation.bound.get("axis")
    if node is None:
        return None
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub) and isinstance(node.operand, gast.Constant):
        return -node.operand.value
    if isinstance(node, gast.Constant) and (node.value is None or isinstance(node.value, int)):
        return node.value
    return MISSING


def _keeps(operation: Operation) -> bool | None:
    node = operation.bound.get("keepdims", gast.Constant(False, None))
    return bool(node.value) if isinstance(node, gast.Constant) else None


def _form(reduction: Operation) -> str:
    """That of what a reduction over the axis gives."""
    return "kept" if _keeps(reduction) else "flat" if _axis(reduction) in (None, 0) else "dropped"


def _cancels(block: Block, largest: Operation, reads: Counter[str], bound: Counter[str], facts: Facts) -> bool:
    """Whether every value that is read outside of this computation is the same for any c."""
    source = largest.bound["a"].id
    known = {block[0].targets[0].id: ShiftDegree(1, False, _form(largest))}
    seen: Counter[str] = Counter()
    for node in block[1:]:
        touched = [name for name in loads(node) if name in known]
        inside = [name for each in statements([node]) for name in (*stores(each), *written_names(each))]
        if any(name in known for name in inside):
            return False
        operation = _operation_bound(node, facts)
        if touched:
            found = _result(operation, known, source, largest) if operation is not None else None
            if found is None:
                return False
            seen.update(touched)
            if found.degree:
                known[node.targets[0].id] = found
        if source in inside:
            source = ""  # another value goes by its name now
    return all(bound[name] == 1 for name in known) and all(seen[name] == reads[name] for name in known)


def _result(operation: Operation, known: dict[str, ShiftDegree], source: str, largest: Operation) -> ShiftDegree | None:
    """How what an operation gives changes with c; None if that cannot be told."""
    given = [_of(value, known) for value in operation.bound.values()]
    name = getattr(operation.function, "__name__", "")
    if operation.function in (np.add, np.subtract, np.multiply, np.divide) and len(given) == 2:
        from_source = getattr(operation.bound["x"], "id", "") == source and operation.function is np.subtract
        return _shift_of_operands(operation.function, given[0], given[1], from_source)
    first = given[0]
    if first is None:
        return None
    if operation.function in (np.exp, np.log) and len(given) == 1:
        return replace(first, factor=not first.factor) if first.factor == (name == "log") else None
    if operation.function is np.negative and len(given) == 1:
        return None if first.factor else replace(first, degree=-first.degree)
    if operation.function is sum_to:
        like = given[1]
        return replace(first, form=like.form) if first.factor and like is not None and like.form != "loose" else None
    if name in ("getitem", "expand_dims"):
        gone = first.form in ("flat", "dropped")
        return replace(first, form="kept") if gone and _restores(operation, largest) else None
    if operation.function is np.sum and first.factor and first.form == "whole":
        return _shift_of_sum(operation, first, largest)
    return None


def _of(value: Node, known: dict[str, ShiftDegree]) -> ShiftDegree | None:
    return known.get(value.id) if isinstance(value, gast.Name) else None


def _shift_of_sum(operation: Operation, first: ShiftDegree, largest: Operation) -> ShiftDegree | None:
    """A sum over the axis along which c is the same."""
    if not set(operation.bound) <= {"a", "axis", "keepdims"} or _axis(operation) != _axis(largest):
        return None
    return replace(first, form=_form(operation))


def _restores(operation: Operation, largest: Operation) -> bool:
    """Whether an index, or `np.expand_dims`, puts the axis back that the largest value was taken over."""
    axis = _axis(largest)
    if operation.function is np.expand_dims:
        return _axis(operation) == axis and axis is not None
    index = operation.bound["index"]
    items = index.elts if isinstance(index, gast.Tuple) else [index]
    new = [k for k, item in enumerate(items) if isinstance(item, gast.Constant) and item.value is None]
    whole = [isinstance(item, gast.Slice) and (item.lower, item.upper, item.step) == (None,) * 3 for item in items]
    dots = [isinstance(item, gast.Constant) and item.value is Ellipsis for item in items]
    if len(new) != 1 or not all(w or d or k in new for k, (w, d) in enumerate(zip(whole, dots, strict=True))):
        return False
    return axis == (new[0] - len(items) if any(dots[: new[0]]) else new[0])


def _shift_of_operands(
    function: np.ufunc, x: ShiftDegree | None, y: ShiftDegree | None, from_source: bool
) -> ShiftDegree | None:
    """Of two operands one or both of which change; a sum of logarithms is a product of factors."""
    sign = -1 if function in (np.subtract, np.divide) else 1
    factor = function in (np.multiply, np.divide)
    if any(one is not None and one.factor != factor for one in (x, y)):
        return None
    if x is None or y is None:
        one = x or y
        if one is None or one.form == "dropped":  # an operand reads the name inside of an expression: `s * (c is None)`
            return None
        degree = one.degree if x is not None else sign * one.degree
        return ShiftDegree(degree, factor, "whole" if from_source and x is None else "loose")
    if "dropped" in (x.form, y.form) and x.form != y.form:
        return None
    form = x.form if x.form == y.form else "whole" if "whole" in (x.form, y.form) else "loose"
    form = "loose" if "loose" in (x.form, y.form) else form
    return ShiftDegree(x.degree + sign * y.degree, factor, form)


def note_words(function: Node, facts: Facts) -> None:
    """Note words for the temporaries of the normal form: what each holds, in names of the user's, or what reads it.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> text = "def f(x, w):\\n    return np.sin(x) * np.tanh(w @ x + 1.0)"
    >>> lines = explain_text(text, after="count_temporaries").splitlines()
    >>> print(*[line for line in lines if "tanh_arg_bar =" in line])
    tanh_arg_bar = sum_to(y_bar * sin_x, t) * (1.0 - t * t)
    """
    if facts.request.generated:
        return  # the names of our own texts are no words
    order = statements(function.body)
    bound = Counter(one for node in order for one in stores(node))
    readers: dict[str, list[Node]] = {}
    for node in order:
        for one in dict.fromkeys(loads(node)):
            readers.setdefault(one, []).append(node)
    for node in order:
        held = target(node)
        if held is not None and facts.names.temporaries.get(held) == "t" and bound[held] == 1:
            facts.names.meant[held] = words(node.value, facts) or _argument(held, readers.get(held, []), facts)


LONGEST = 16  # characters of a temporary's name; its adjoint has some more
_JOINED: dict[type, str] = {
    gast.Add: "plus",
    gast.Sub: "minus",
    gast.Mult: "times",
    gast.MatMult: "times",
    gast.Div: "over",
}
_POWERS = {2: "squared", 3: "cubed"}
_OURS = re.compile(r"_.*|t\d*|.*_(bar|dot|stack)_*|.*_\d+")


def words(value: Node, facts: Facts) -> str:
    """A name for the value of one operation, made of names of the user's; empty where it would not say what it is."""
    match value:
        case gast.BinOp(op=gast.Pow(), left=base, right=gast.Constant(value=2 | 3 as power)):
            return _joined(_word(base, facts), _POWERS[int(power)])
        case gast.BinOp(op=op) if type(op) in _JOINED:
            return _words_of_operands(value, facts)
        case gast.Call(func=function, keywords=words_given):
            method = isinstance(function, gast.Attribute) and not value.args
            given = [function.value] if method else value.args
            alone = len(given) == 1 and {word.arg for word in words_given} <= {"axis", "keepdims"}
            return _joined(_function_name(value, facts), _word(given[0], facts)) if alone else ""
    return "" if isinstance(value, gast.Name) else _word(value, facts)


def _joined(*parts: str) -> str:
    return "_".join(parts) if all(parts) else ""


def _word(value: Node, facts: Facts) -> str:
    """A name for an operand that is a name of the user's, or a part of one: `x_i` of `x[i]`, `p_w` of `p["w"]`."""
    if isinstance(value, gast.Name):
        spelled = facts.names.base.get(value.id, value.id).rstrip("_")
        tables = (facts.names.temporaries, facts.names.imports.values(), facts.names.adjoint_of)
        ours = any(value.id in table for table in tables)
        return "" if ours or _OURS.fullmatch(spelled) else spelled
    if not isinstance(value, gast.Subscript | gast.Attribute) or not isinstance(value.value, gast.Name):
        return ""
    if isinstance(value, gast.Attribute):
        return _joined(_word(value.value, facts), value.attr)
    items = value.slice.elts if isinstance(value.slice, gast.Tuple) else [value.slice]
    return _joined(_word(value.value, facts), "".join(_word_of_index(item, facts) for item in items))


def _word_of_index(item: Node, facts: Facts) -> str:
    """A letter, or a key; `x_0` might be a second x."""
    if isinstance(item, gast.Name) and len(item.id) == 1:
        return _word(item, facts)
    key = item.value if isinstance(item, gast.Constant) else None
    return key.strip("_") if isinstance(key, str) and key.isidentifier() else ""


def _words_of_operands(value: Node, facts: Facts) -> str:
    """`x_minus_y`, `xy` for a product of letters, `x_squared` for `x * x`, `one_minus_x`, `twice_x`."""
    joint, sides = _JOINED[type(value.op)], (value.left, value.right)
    left, right = (_word(side, facts) if isinstance(side, gast.Name) else "" for side in sides)
    match sides:
        case gast.Constant(value=number), _:
            return _words_with_number(number, joint, right, first=True)
        case _, gast.Constant(value=number):
            return _words_with_number(number, joint, left, first=False)
    if left == right:
        return _joined(left, "squared") if isinstance(value.op, gast.Mult) else ""
    letters = joint == "times" and len(left) == len(right) == 1
    return left + right if letters else _joined(left, joint, right)


def _words_with_number(number: object, joint: str, of: str, *, first: bool) -> str:
    if joint == "times":
        return _joined({2.0: "twice", 0.5: "half"}.get(number, "scaled"), of) if isinstance(number, int | float) else ""
    if number == 1.0:
        return _joined("one", joint, of) if first else _joined(of, joint, "one") if joint != "over" else ""
    return _joined("half", of) if number == 2.0 and joint == "over" and not first else ""


def _function_name(call: Node, facts: Facts) -> str:
    """How the user calls the elementwise function, or the reduction, that is called; empty for what converts."""
    rule = _rule_of_call(call, facts)
    if rule is None or not (rule.kind == "elementwise" or rule.shape == "reduce"):
        return ""
    return re.sub(r"_\d+$|_+$", "", getattr(call.func, "attr", getattr(call.func, "id", "")))


def _rule_of_call(call: Node, facts: Facts) -> Rule | None:
    known = facts.resolution.operation.get(call)
    return known.rule if known is not None else rule_of(function_called(call, facts))


ARGUMENT = "_arg"


def _argument(held: str, readers: list[Node], facts: Facts) -> str:
    """`tanh_arg` for what one elementwise function, and nothing else, is taken of."""
    call = getattr(readers[0], "value", None) if len(readers) == 1 else None
    if not isinstance(call, gast.Call) or len(call.args) != 1 or call.keywords:
        return ""
    rule = _rule_of_call(call, facts)
    alone = getattr(call.args[0], "id", "") == held and rule is not None and rule.kind == "elementwise"
    return _function_name(call, facts) + ARGUMENT if alone else ""

"""What calls change: arguments, what reports alone, and what a statement reads on both sides of a change.

Side effects of calls (mod/ref): arguments that change, statements that only report.

Functions that write into their arguments: which of these change, through any number of calls.

Arguments that the function writes into: the derivative works on a copy, and changes nothing of its caller's.

Statements that only report: print, warnings, logging, and the checks of our own texts.

Order of evaluation: what a statement changes while it is evaluated.

Functions of a few straight lines, which are written out where they are called.

What a statement changes while it is evaluated: nothing else in it may read that.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType, ModuleType
from typing import (
    Any,  # functions are arbitrary objects
)

import gast
import numpy as np

from srcgrad.core.bindings import Binding
from srcgrad.core.control_flow import ENTRY, Definitions, definitions
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.expressions import is_swap
from srcgrad.core.facts import Facts
from srcgrad.core.identity import cached_function
from srcgrad.core.namespace import Overlay, Step
from srcgrad.core.rules import may_show, rule_of, written_out
from srcgrad.core.trees import (
    COMPOUND,
    Node,
    at,
    children,
    copy,
    find_nodes,
    header,
    is_write,
    name,
    own_names,
    parameters,
    root,
    statement,
    statements,
    stores,
    walk,
    written_names,
)
from srcgrad.core.walks import kinds
from srcgrad.frontend.calls.functions import function_of
from srcgrad.frontend.context import CHANGES, by_method, changed_lists, is_change
from srcgrad.frontend.kinds_of_values import NOTHING, is_instance, live_object
from srcgrad.frontend.resolve import METHODS, binding_of, operation_of
from srcgrad.runtime import (
    check_array,
    check_arrays,
    check_complex,
    check_dtype,
    check_floating,
    check_input,
    check_item,
    check_method,
    check_module,
    check_number,
    check_operand,
    check_seed,
    check_shapes,
    owned,
    require_handled,
)
from srcgrad.runtime.quadrature import check_numbers, check_steady
from srcgrad.runtime.roots import check_slopes


def changed_on_entry(changes: list[tuple[Node, str]], tree: Node, own: list[str]) -> dict[str, None]:
    """The parameters among names that statements change which still hold the caller's array there."""
    if not any(name in own for _, name in changes):
        return {}
    reaching = definitions(tree.body, own)
    inner = [(each, own_names(each)) for each in statements(tree.body) if isinstance(each, gast.FunctionDef)]
    nested = {node: names for each, names in inner for node in statements(each.body)}
    return {
        name: None
        for node, name in changes
        if name in own and name not in nested.get(node, ()) and _holds_argument(reaching, node, name)
    }


def _holds_argument(reaching: Definitions, node: Node, name: str) -> bool:
    if node not in reaching.graph.index:
        return True  # in a nested function, which may be called at any time
    todo = list(reaching.at(node, name))
    seen: set[int] = set()
    while todo:
        number = todo.pop()
        if number in seen:
            continue
        seen.add(number)
        place = reaching.of[number][0]
        if place == ENTRY:
            return True
        before = reaching.graph.nodes[place]
        if is_write(before):  # the array is the one that it was
            todo += reaching.at(before, name)
    return False


_BARE = {
    gast.FunctionDef, gast.arguments, gast.Name, gast.Constant, gast.Assign, gast.Return, gast.Expr, gast.If, gast.For,
    gast.BinOp, gast.UnaryOp, gast.Compare, gast.BoolOp, gast.IfExp, gast.Call, gast.keyword, gast.Attribute,
    gast.Subscript, gast.Slice, gast.Tuple, gast.List,
}  # fmt: skip


def is_bare(tree: Node, facts: Facts) -> bool:
    """Whether a function binds names and calls functions, and in no spelling writes into anything itself."""
    stored = find_nodes(tree, gast.Subscript, gast.Attribute)
    return (
        kinds(tree) <= _BARE
        and len(find_nodes(tree, gast.FunctionDef)) == 1
        and all(type(n.ctx) is gast.Load for n in stored)
        and all(type(n.value) is gast.Constant for n in find_nodes(tree, gast.Expr))
        and all(_gives_only(call, facts) for call in find_nodes(tree, gast.Call))
    )


def _gives_only(call: Node, facts: Facts) -> bool:
    """Whether a call fills none of its arguments, as `np.add(a, b, a)` does, unless it is one of a Python function."""
    if any(word.arg in (None, "out") for word in call.keywords):
        return False
    found = binding_of(call.func, facts, facts.local)
    if found is None:
        return isinstance(call.func, gast.Attribute) and call.func.attr in METHODS and len(call.args) < 2
    function: Any = found.object
    if isinstance(function, np.ufunc):
        return len(call.args) <= function.nin
    rule = rule_of(function)
    return isinstance(function, FunctionType) if rule is None else rule.kind != "refused" and len(call.args) < 3


@dataclass
class Procedures:
    """What is known of the functions that one function calls."""

    facts: Facts
    known: dict[int, dict[str, bool]] = field(default_factory=dict)  # by tree: the parameters that it changes
    open: list[int] = field(default_factory=list)  # trees that are being looked at, the outermost first
    circular: bool = False  # whether one of them was asked for again
    augments: bool = False  # look for `a += e` of parameters, which changes arrays and binds numbers anew

    def changed(self, function: Any) -> dict[str, bool]:
        """The parameters that a function changes, itself or by what it calls; whether by their methods alone."""
        if isinstance(function, Step):
            return {}  # it works on a copy
        try:
            source, namespace = self.facts.module.source(function)
        except DifferentiationError:
            return {}  # no source: it is a constant, or refused where a derivative flows through it
        tree, settled = source.tree, self.facts.module.changes
        if (id(tree), self.facts.mode, self.augments) in settled:
            found: dict[str, bool] = settled[id(tree), self.facts.mode, self.augments]
            return found
        if id(tree) in self.known:
            self.circular |= id(tree) in self.open
            return self.known[id(tree)]
        self.known[id(tree)] = {}  # a recursive call adds nothing
        self.open.append(id(tree))
        inner = Facts(source, namespace, self.facts.mode, (), module=self.facts.module)
        inner.local = own_names(tree)
        if not is_bare(tree, inner) or any(self.arguments(n, inner, inner.local) for n in find_nodes(tree, gast.Call)):
            self.known[id(tree)] = self._find_changes(self.facts.module.spell(copy(tree), inner, bare=True), inner)
        self.open.pop()
        if not self.open:  # what was found on the way lacks what a circle would have added
            whole = [id(tree)] if self.circular else list(self.known)
            settled.update({(one, self.facts.mode, self.augments): self.known[one] for one in whole})
        return self.known[id(tree)]

    def _find_changes(self, tree: Node, inner: Facts) -> dict[str, bool]:
        arguments = tree.args
        own = [a.id for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
        local = frozenset([*own, *(s for n in statements(tree.body) for s in stores(n))])
        found: list[tuple[Node, str]] = []
        called: list[tuple[Node, str]] = []  # where methods are called by which lists and dicts change
        for node in statements(tree.body):
            found += [(node, w) for w in written_names(node) if is_write(node)]
            called += [(node, w) for w in written_names(node) if is_change(node, w)]
            called += [(node, one) for one in by_method(node) if one in own]
            if isinstance(node, gast.AugAssign) and (self.augments or isinstance(node.value, gast.List | gast.Dict)):
                found += [(node, one) for one in stores(node)]
            for call in [n for part in header(node) for n in walk(part) if isinstance(n, gast.Call)]:
                for value, alone in self._arguments_changed(call, inner, local):
                    where = called if alone else found
                    where += [(node, n.id) for n in walk(value) if isinstance(n, gast.Name)]
        sure = changed_on_entry([*found, *self._changes_through_views(found, tree, inner, local)], tree, own)
        found += called
        return {
            one: one not in sure
            for one in changed_on_entry([*found, *self._changes_through_views(found, tree, inner, local)], tree, own)
        }

    def _changes_through_views(
        self, changes: list[tuple[Node, str]], tree: Node, inner: Facts, local: frozenset[str]
    ) -> list[tuple[Node, str]]:
        """Where names that change were bound to parts of what others hold: `v = x[::-1]`, `for row in x`."""
        found: list[tuple[Node, str]] = []
        todo = list(dict.fromkeys(name for _, name in changes))
        for view in todo:
            for node in statements(tree.body) if view in local else ():
                if view not in stores(node) or is_write(node):
                    continue
                value = node.iter if isinstance(node, gast.For) else getattr(node, "value", None)
                bases = self.seen(value, inner, local)
                found += [(node, base) for base in bases]
                todo += [base for base in bases if base not in todo]
        return found

    def seen(self, value: Node, inner: Facts, local: frozenset[str]) -> list[str]:
        """The names whose elements a value may show: not those of arithmetic, nor of calls that make an array."""
        if isinstance(value, gast.Name):
            return [value.id]
        if isinstance(value, gast.Subscript):
            return [] if isinstance(value.slice, gast.List | gast.Compare) else self.seen(value.value, inner, local)
        if isinstance(value, gast.Call):
            return self._seen_through(value, inner, local)
        if not isinstance(value, gast.Tuple | gast.List | gast.IfExp | gast.Attribute):
            return []
        return [one for part in children(value) for one in self.seen(part, inner, local)]

    def _seen_through(self, call: Node, inner: Facts, local: frozenset[str]) -> list[str]:
        try:
            operation = operation_of(call, inner, local)
        except DifferentiationError:
            return []  # refused later
        if operation is None:
            return []
        if operation.kind == "callee" and inner.module.returns_new(operation.function):
            return []
        if operation.kind == "op" and not may_show(operation.function, operation.bound):
            return []
        return [one for part in children(call) for one in self.seen(part, inner, local)]

    def arguments(self, call: Node, facts: Facts, local: frozenset[str]) -> list[Node]:
        """The arguments of a call into whose arrays the called function writes."""
        return [value for value, _ in self._arguments_changed(call, facts, local)]

    def _arguments_changed(self, call: Node, facts: Facts, local: frozenset[str]) -> list[tuple[Node, bool]]:
        """The arguments that a called function changes, and whether it does so by their methods alone."""
        if not any(isinstance(n, gast.Name) for a in [*call.args, *call.keywords] for n in walk(a)):
            return []
        if _is_ruled(call, facts, local):
            return []
        try:
            operation = operation_of(call, facts, local)
        except DifferentiationError:
            return []  # refused later, if a derivative flows through it
        if operation is None or operation.kind != "callee":
            return []
        changes = self.changed(operation.function)
        lists = [a for a in [*call.args, *(w.value for w in call.keywords)] if _is_list(a, facts)]
        joined = (
            Procedures(self.facts, augments=True).changed(operation.function) if lists and not self.augments else {}
        )
        if not changes and not joined:
            return []
        tree = self.facts.module.source(operation.function)[0].tree
        positional = [a.id for a in tree.args.posonlyargs + tree.args.args]
        given = dict(zip(positional, call.args, strict=False)) | {w.arg: w.value for w in call.keywords}
        for parameter in changes:
            if parameter not in given and parameter in _mutable_default_parameters(tree):
                raise facts.refuse(
                    call,
                    "E5010",
                    f"`{gast.unparse(call.func)}` changes its own default of `{parameter}`, which the next call sees",
                    f"pass `{parameter}`, or make it anew in the function",
                )
        found = [(value, changes[one]) for one, value in given.items() if one in changes]
        found += [(v, False) for one, v in given.items() if one in joined and one not in changes and _is_list(v, facts)]
        return [(value, alone) for value, alone in found if not (alone and _has_own_methods(value, facts, local))]


def _is_list(value: Node, facts: Facts) -> bool:
    """Whether a value is known as a list, which `a += e` changes."""
    named = getattr(value, "id", "")
    known = facts.of.get(value), facts.kinds.get(named), facts.named.get(named)
    return any(kind is not None and kind.tag == "list" for kind in known) or facts.list_kind(named) == "list"


def _has_own_methods(value: Node, facts: Facts, local: frozenset[str]) -> bool:
    """Whether a value is an object of a class of the user that is neither a list nor a dict, nor made of one."""
    held = live_object(value, facts.namespace, local, None if facts.module is None else facts.module.methods)
    if held is not NOTHING and is_instance(held):
        return not isinstance(held, list | dict)
    kind = facts.kinds.get(getattr(value, "id", "")) or facts.of.get(value)
    made = kind.items[0][0] if kind is not None and kind.tag == "object" and kind.items else None
    return isinstance(made, type) and not issubclass(made, list | dict)


def _is_ruled(call: Node, facts: Facts, local: frozenset[str]) -> bool:
    """Whether a call is one of an operation whose rule says what it gives, and not another function instead."""
    found = binding_of(call.func, facts, local)
    rule = rule_of(cached_function(found.object)) if found is not None and found.kind == "object" else None
    if found is None or found.static is not None or rule is None or rule.composition is not None:
        return False
    return written_out(rule, call.args, call.keywords) is None


def _mutable_default_parameters(tree: Node) -> list[str]:
    """Parameters whose default is an object that the next call gets as well."""
    positional = [*tree.args.posonlyargs, *tree.args.args]
    pairs = [*zip(positional[len(positional) - len(tree.args.defaults) :], tree.args.defaults, strict=True)]
    pairs += zip(tree.args.kwonlyargs, tree.args.kw_defaults, strict=True)
    return [p.id for p, default in pairs if default is not None and not isinstance(default, gast.Constant)]


def entry(function: Node, facts: Facts) -> Node:
    """Copy a written argument at the start, unless another function gave it, which would miss what is written.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> print(explain_text("def f(x, n):\\n    x[0] = n\\n    return x", after="entry"))
    def f(x, n):
        x = owned(x, (n,))
        x[0] = n
        return x
    """
    if _calls_itself(function) or (facts.called and facts.step is None):
        return function
    writes = [
        (node, w)
        for node in statements(function.body)
        for w in written_names(node)
        if is_write(node) or is_change(node, w)
    ]
    writes += [(node, w) for node in statements(function.body) for w in changed_lists(node) if w in facts.lists]
    writes += [(node, w) for node in statements(function.body) for w in _changed_by_step(node, facts)]
    changed = changed_on_entry(writes, function, parameters(function))
    if facts.step is not None:
        return _step(function, changed, facts)
    copies = []
    outside = _outside_values(function, facts) if changed else []
    for parameter in parameters(function):
        if parameter in changed:
            beside = [p for p in parameters(function) if p != parameter] + outside
            others = gast.Tuple(elts=list(map(name, beside)), ctx=gast.Load())
            spelled = facts.library("owned")
            facts.namespace = Overlay(facts.namespace, {spelled: Binding("object", owned)})
            made = statement(f"array = {spelled}(array, others)", array=parameter, others=others)
            facts.foreign[made] = facts.copies[made] = None
            facts.entered[parameter] = next((node for node, one in writes if one == parameter), function)
            copies.append(at(made, function))
    start = 1 if _is_docstring(function.body[0]) else 0
    function.body[start:start] = copies
    return function


def _outside_values(function: Node, facts: Facts) -> list[str]:
    """Values of a module known as text that a function reads, which the argument may show; a call knows live ones."""
    local = {*parameters(function), *(s for node in statements(function.body) for s in stores(node))}
    read = dict.fromkeys(n.id for node in function.body for n in find_nodes(node, gast.Name) if n.id not in local)
    found = [(one, facts.namespace.lookup(one)) for one in read]
    return [one for one, meant in found if meant is not None and meant.kind == "value" and not _is_number(meant)]


def _is_number(meant: Binding) -> bool:
    value = gast.parse(meant.expression).body[0].value if meant.expression else None
    return isinstance(getattr(value, "operand", value), gast.Constant)


def _changed_by_step(node: Node, facts: Facts) -> list[str]:
    """Arrays that the loop changes whose trips a statement calls."""
    call = node.value if isinstance(node, gast.Assign) and isinstance(node.value, gast.Call) else None
    found = facts.namespace.lookup(call.func.id) if call is not None and isinstance(call.func, gast.Name) else None
    step = None if found is None else found.object
    return [w for w in stores(node) if w in step.changed] if isinstance(step, Step) else []


def _step(function: Node, changed: dict[str, None], facts: Facts) -> Node:
    """A step works on a copy of what it changes, and gives it back."""
    copies = []
    own = parameters(function)
    swapped = [
        s
        for node in statements(function.body)
        if is_swap(node) and set(stores(node)) & set(changed)
        for s in stores(node)
    ]
    for parameter in dict.fromkeys([*changed, *(s for s in swapped if s in own)]):
        if parameter not in facts.step.state:
            raise facts.refuse(
                function,
                "E5010",
                f"`{parameter}` is changed in a checkpointed loop where that cannot be seen",
                f"write `{parameter}[...] = ...` in the body of the loop itself",
            )
        made = statement(f"{parameter} = {parameter}.copy()")
        facts.foreign[made] = None
        copies.append(at(made, function))
    function.body[:0] = copies
    return function


def _calls_itself(function: Node) -> bool:
    return any(
        isinstance(n.func, gast.Name) and n.func.id == function.name
        for node in function.body
        for n in find_nodes(node, gast.Call)
    )


def _is_docstring(node: Node) -> bool:
    return isinstance(node, gast.Expr) and isinstance(node.value, gast.Constant)


_REPORTS = (
    builtins.print,
    check_array,
    check_arrays,
    check_operand,
    check_seed,
    check_shapes,
    check_complex,
    check_floating,
    check_input,
    require_handled,
    check_number,
    check_item,
    check_dtype,
    check_method,
    check_module,
    check_numbers,
    check_slopes,
    check_steady,
)


def effects(node: Node, facts: Facts, local: frozenset[str]) -> bool:
    """Whether a statement's call is one that only reports: print, warnings, logging; E5001 for what is refused."""
    found = binding_of(node.func, facts, local)
    if found is None or found.static is not None:
        return False
    function = found.object
    rule = rule_of(function)
    if rule is not None and rule.kind == "refused":
        called = gast.unparse(node.func)
        raise facts.refuse(node, "E5001", f"`{called}` has no derivative: {rule.note}", "write it out")
    if function in _REPORTS:
        return True
    return getattr(function, "__module__", None) in ("warnings", "_warnings", "logging")


_FEW = 24  # operations beyond which a function is better read under its own name
_PARTS = (
    gast.Name,
    gast.Attribute,
    gast.Constant,
    gast.BinOp,
    gast.UnaryOp,
    gast.Compare,
    gast.Call,
    gast.keyword,
    gast.Subscript,
    gast.Slice,
    gast.Tuple,
    gast.expr_context,
    gast.operator,
    gast.unaryop,
    gast.cmpop,
)
_TAKES = ("pop", "popitem", "setdefault", "next")  # what they are called on is another list, dict or iterator then
_OPERATIONS = (gast.BinOp, gast.UnaryOp, gast.Compare, gast.Call)


def is_straight(tree: Node) -> bool:
    """Whether a function binds names to the values of a few expressions, and returns the last."""
    first = tree.body[0]
    documented = isinstance(first, gast.Expr) and isinstance(first.value, gast.Constant)
    *bindings, last = tree.body[documented:] or [None]
    if not isinstance(last, gast.Return) or last.value is None or tree.decorator_list:
        return False
    for node in bindings:
        if not isinstance(node, gast.Assign) or not all(isinstance(one, gast.Name) for one in node.targets):
            return False
    parts = [part for node in [*bindings, last] for part in walk(node.value)]
    if isinstance(last.value, gast.Tuple) or not all(isinstance(part, _PARTS) for part in parts):
        return False
    return operations(tree) <= _FEW


def operations(tree: Node) -> int:
    """How many operations a function has."""
    return sum(isinstance(part, _OPERATIONS) for node in tree.body for part in walk(node))


def put_in(given: dict[str, Node], tree: Node, is_function: Callable[[Node], bool]) -> dict[str, Node]:
    """What stands where a straight function reads a parameter: names, numbers, and for one reader what has no call."""
    if not is_straight(tree):
        return {}
    found = {}
    called = [n.func for node in tree.body for n in walk(node) if isinstance(n, gast.Call)]
    takes = any(getattr(one, "attr", getattr(one, "id", "")) in _TAKES for one in called)
    for parameter, value in given.items():
        places = [n for node in tree.body for n in walk(node) if isinstance(n, gast.Name) and n.id == parameter]
        once = not takes and len(places) == 1 and not any(isinstance(n, gast.Call) for n in walk(value))
        displayed = isinstance(value, gast.Tuple | gast.List | gast.Dict | gast.Starred)
        if displayed or is_function(value) or any(isinstance(n.ctx, gast.Store) for n in places):
            continue
        if once or isinstance(value, gast.Name | gast.Constant):
            found[parameter] = value
            for each in places:
                each.id = place(parameter)
    return found


def place(parameter: str) -> str:
    """What stands where an argument will be: no name that a text can have."""
    return f"({parameter})"


def check_sequence(node: Node, facts: Facts) -> None:
    """Refuse a part of a statement that changes what another part of it reads: passes may move either."""
    parts = header(node) if isinstance(node, COMPOUND) else [node]
    items = [item for part in parts for item in walk(part)]
    for effect in [i for i in items if isinstance(i, gast.Call | gast.NamedExpr)]:
        changed = _names_changed(effect, facts)
        if not changed:
            continue
        inside = {id(n) for n in walk(effect)}
        others = [i for i in items if id(i) not in inside]
        if effect is getattr(node, "value", None) and isinstance(node, gast.Assign | gast.Expr):
            others = [i for t in getattr(node, "targets", []) for i in _places(t)]  # it comes last but for the store
        elif isinstance(effect, gast.NamedExpr):
            others = [i for i in others if isinstance(i, gast.Call) and _place(i) < _place(effect)]
            if not any(changed & _reads(i, facts, ()) for i in others if isinstance(i, gast.Call)):
                continue
        read = {i.id for i in others if isinstance(i, gast.Name)}
        read |= {
            n for i in others if isinstance(i, gast.Call) and not _comes_in_turn(i, facts) for n in _reads(i, facts, ())
        }
        for one in sorted(changed & read):
            raise facts.refuse(
                effect,
                "E5010",
                f"`{one}` changes while the statement that reads it is evaluated",
                "make it a statement of its own: `t = ...`",
            )


def _comes_in_turn(call: Node, facts: Facts) -> bool:
    """Whether a call is written out before the statement, behind those before it: it changes names around it itself."""
    found = function_of(call.func, facts, facts.local)
    tree = None if found is None else found.tree
    return tree is not None and not is_straight(tree) and bool(outer_changes(tree, facts))


def check_targets(node: Node, facts: Facts) -> None:
    """`i = a[i] = e` binds the first i before it looks for the place."""
    if isinstance(node, gast.For) and any(isinstance(n, gast.Subscript | gast.Attribute) for n in walk(node.target)):
        raise facts.refuse(node.target, "E5005", "a loop that binds a part of something", "bind a name, and store that")
    bound: set[str] = set()
    for target in getattr(node, "targets", []):
        read = {i.id for i in _places(target) if isinstance(i, gast.Name)}
        if bound & read:
            raise facts.refuse(
                target, "E5005", "a target that reads what the same statement binds", "use two statements"
            )
        bound |= {n.id for n in walk(target) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)}


def _places(target: Node) -> list[Node]:
    """What the indices of a target read."""
    return [n for part in walk(target) if isinstance(part, gast.Subscript) for n in walk(part.slice)]


def _place(node: Node) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _names_changed(effect: Node, facts: Facts) -> set[str]:
    """Names whose values, or contents, an expression changes."""
    if isinstance(effect, gast.NamedExpr):
        return {effect.target.id}
    if isinstance(effect.func, gast.Attribute) and effect.func.attr in CHANGES:
        known = facts.of.get(effect.func.value)
        if known is not None and known.tag == "tuple":
            return set()  # a method of a NamedTuple's own
        held = effect.func.value.id if isinstance(effect.func.value, gast.Name) else ""
        return {held} & facts.local
    found = function_of(effect.func, facts, facts.local)
    return outer_changes(found.tree, facts) if found is not None and found.tree is not None else set()


def changes_outside(tree: Node, facts: Facts) -> bool:
    """Whether a nested function binds names of the function around it, or writes into arrays."""
    return bool(outer_changes(tree, facts)) or any(is_write(n) for n in statements(tree.body))


def outer_changes(tree: Node, facts: Facts) -> set[str]:
    """Names around it that a nested function binds, or changes the contents of: np.sort(x) changes no np."""
    own = _local_names(tree)
    found: set[str] = set()
    for node in walk(tree):
        if isinstance(node, gast.Nonlocal):
            found.update(node.names)
        elif isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.attr in CHANGES:
            found.update({node.func.value.id} - own if isinstance(node.func.value, gast.Name) else ())
        elif isinstance(node, gast.Assign | gast.AugAssign):
            places = node.targets if isinstance(node, gast.Assign) else [node.target]
            bases = [root(place) for place in places if isinstance(place, gast.Subscript | gast.Attribute)]
            found.update(base.id for base in bases if base is not None and base.id not in own)
    return {one for one in found if one in facts.local or not _is_module(one, facts)}


def _is_module(name: str, facts: Facts) -> bool:
    found = facts.namespace.lookup(name)
    return found is not None and isinstance(found.object, ModuleType)


def _reads(call: Node, facts: Facts, above: tuple[int, ...]) -> set[str]:
    """Names of the function around it that a call of a nested function reads."""
    found = function_of(call.func, facts, facts.local)
    if found is None or found.tree is None or id(found.tree) in above:
        return set()
    own = _local_names(found.tree)
    names = {n.id for n in walk(found.tree) if isinstance(n, gast.Name)} - own
    inner = [n for n in walk(found.tree) if isinstance(n, gast.Call)]
    return names.union(*(_reads(n, facts, (*above, id(found.tree))) for n in inner))


def _local_names(tree: Node) -> set[str]:
    arguments = tree.args
    names = {a.id for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}
    outer = {n for node in walk(tree) if isinstance(node, gast.Nonlocal) for n in node.names}
    body = tree.body if isinstance(tree.body, list) else []
    return (names | {s for node in body for n in walk(node) for s in _bound_name(n)}) - outer


def _bound_name(node: Node) -> list[str]:
    return [node.id] if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store) else []

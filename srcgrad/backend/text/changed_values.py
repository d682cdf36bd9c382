"""Which values of a module known only as text are changed behind the line that binds them.

An output that takes such a line over would hold the value as it was there: it must not be taken over. What a value
shares its elements with counts: `row = W[0]` and then `row[1] = 5.0` changes `W`, as `held = {"w": W}` and then
`held["w"][0] = 5.0` does, a loop over `W` that writes into its rows, or a function of the module that writes into its
parameter.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any  # what is called is arbitrary

import numpy as np

from srcgrad.core.bindings import StaticFunction, StaticModule, binding_of_text
from srcgrad.core.rules import may_show, rule_of
from srcgrad.frontend.context import CHANGES
from srcgrad.frontend.resolve import METHODS

SAME, WITHIN = 0, 1  # what a name holds is, or shows, the value of another; or has it inside
Held = dict[str, int]  # names of values, and how they are held

_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_CHAIN = ast.Subscript | ast.Attribute
_SIZES = ("shape", "ndim", "size", "dtype", "itemsize", "nbytes", "strides")  # attributes that show no elements
_INTO_CONTAINERS = (list, tuple, set, dict, zip, enumerate, reversed, sorted, iter, next)


def changed_in(module: StaticModule, name: str) -> int | None:
    """The first line that may change the contents of a module's value behind its assignment; None if none.

    An item or attribute is assigned, of it or of what shares elements with it, or the module calls a method of it, or
    gives it to a function for its effect.
    """
    whole = Sharing(module)
    whole.block(module.tree.body, straight=True)
    for statement in module.tree.body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            function = statement.value.func
            if not (isinstance(function, ast.Name) and function.id == "print"):
                read = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
                read |= {one for one in whole.held if one.partition(":")[0] in read}  # each that the name was bound to
                whole.changes += [(one, SAME, statement.lineno) for one in sorted(read)]
    through = [line for one, deep, line in whole.changes if whole.reaches(one, deep, name)]
    return min([*write_lines(module.tree, name), *through], default=None)


def write_lines(scope: ast.AST, name: str) -> list[int]:
    """Lines of `name[...] = ...`, `name.attribute = ...` and `del name[...]` where `name` is the module's."""
    found: list[int] = []
    todo = list(ast.iter_child_nodes(scope))
    while todo:
        node = todo.pop()
        if isinstance(node, _FUNCTIONS) and _binds(node, name):
            continue
        if isinstance(node, _CHAIN) and not isinstance(node.ctx, ast.Load) and _root(node)[0] == name:
            found.append(node.lineno)
        todo.extend(ast.iter_child_nodes(node))
    return found


def written_attributes(tree: ast.Module, name: str) -> list[int]:
    """Lines that give a function of the module an attribute that its calls may read."""
    stored = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)]
    return sorted(n.lineno for n in stored if getattr(n.value, "id", "") == name and not n.attr.startswith("__"))


def _binds(function: ast.AST, name: str) -> bool:
    stored = (isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in ast.walk(function))
    return any(stored) or any(isinstance(n, ast.arg) and n.arg == name for n in ast.walk(function))


def _root(node: ast.AST) -> tuple[str, int]:
    """The name that a chain of items and attributes begins with, and how long the chain is."""
    length = 0
    while isinstance(node, _CHAIN):
        node, length = node.value, length + 1
    return getattr(node, "id", ""), length


@dataclass
class Sharing:
    """What the names of a scope share with each other, and the lines that change what they hold."""

    module: StaticModule
    held: dict[str, Held] = field(default_factory=dict)
    changes: list[tuple[str, int, int]] = field(default_factory=list)  # a name, how deep, the line
    numbers: set[str] = field(default_factory=set)  # names of what has numbers as items
    wholes: set[str] = field(default_factory=set)  # names that are bound to what is not seen to be an item
    parameters: tuple[str, ...] = ()
    now: dict[str, str] = field(default_factory=dict)  # a name that is bound anew, and what it is called since
    returned: Held = field(default_factory=dict)
    functions: dict[str, Sharing] = field(default_factory=dict)  # those of the module's functions

    def reaches(self, changed: str, deep: int, name: str) -> bool:
        """Whether what is so deep inside of the value of a name is, or shows, the value of another."""
        seen, todo = set(), [(changed, deep)]
        while todo:
            one, left = todo.pop()
            if left < 0 or (one, left) in seen:
                continue
            seen.add((one, left))
            if one == name and left == 0:
                return True
            todo += [(other, left - how) for other, how in self.held.get(one, {}).items()]
            todo += [(other, left) for other, held in self.held.items() if held.get(one) == SAME]
        return False

    # -- statements --------------------------------------------------------------------------------------------------

    def block(self, body: list[ast.stmt], straight: bool = False) -> None:
        """What statements do; those that stand straight in their scope bind a name for all that stands behind."""
        for statement in body:
            if isinstance(statement, ast.If) and _is_main(statement.test):
                self.block(statement.orelse)  # an import does not run it
                continue
            self._statement(statement, straight)
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            for part in [statement, *getattr(statement, "handlers", [])]:
                for block in ("body", "orelse", "finalbody"):
                    self.block(getattr(part, block, []))

    def _statement(self, node: ast.stmt, straight: bool) -> None:
        first = node.targets[0] if straight and isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if isinstance(node, ast.Assign) and isinstance(first, ast.Name):
            self._calls(node)
            self._bind_anew(first.id, node.value)
            return
        if isinstance(node, ast.Assign):
            value = self.shown(node.value)
            for place in node.targets:
                self._bind(place, node.value, value)
            leader, *others = [place.id for place in node.targets if isinstance(place, ast.Name)] or [""]
            for other in others:
                self.held.setdefault(self._now(other), {})[self._now(leader)] = SAME
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._bind(node.target, node.value, self.shown(node.value))
        elif isinstance(node, ast.For):
            self._bind(node.target, None, self._inside(node.iter))
        elif isinstance(node, ast.AugAssign):
            root, deep = self._rooted(node.target)
            if deep or root in self.wholes or not set(self.held.get(root, {})) & self.numbers:
                self.changes.append((root, deep - 1 if deep else 0, node.lineno))
        elif isinstance(node, ast.Return) and node.value is not None:
            self.returned.update(self.shown(node.value))
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self._calls(node)

    def _calls(self, node: ast.stmt) -> None:
        for each in [n for n in self._expressions(node) if isinstance(n, ast.comprehension)]:
            self._bind(each.target, None, self._inside(each.iter))
        for call in [n for n in self._expressions(node) if isinstance(n, ast.Call)]:
            self._call(call)

    def _now(self, name: str) -> str:
        return self.now.get(name, name)

    def _rooted(self, node: ast.expr) -> tuple[str, int]:
        root, deep = _root(node)
        return self._now(root), deep

    def _bind_anew(self, name: str, value: ast.expr) -> None:
        """A name that all that stands behind finds bound to this value: what it held before is another's."""
        shown = self.shown(value)
        if name in self.held or name in self.parameters:
            self.now[name] = f"{name}:{value.lineno}:{value.col_offset}"
        self._bind(ast.copy_location(ast.Name(name, ast.Store()), value), value, shown)

    def _expressions(self, statement: ast.stmt) -> Iterator[ast.AST]:
        """What stands in a statement itself, without the statements of its blocks and without lambdas."""
        todo: list[ast.AST] = [statement]
        while todo:
            node = todo.pop()
            yield node
            todo += [n for n in ast.iter_child_nodes(node) if not isinstance(n, ast.stmt | ast.Lambda)]

    def _bind(self, place: ast.expr, value: ast.expr | None, shown: Held) -> None:
        if isinstance(place, ast.Name):
            name = self._now(place.id)
            self.held.setdefault(name, {}).update({one: how for one, how in shown.items() if one != name})
            if value is not None and self._has_numbers(value):
                self.numbers.add(name)
            if value is not None and not _is_item(value):
                self.wholes.add(name)
        elif isinstance(place, ast.Starred):
            self._bind(place.value, None, shown)
        elif isinstance(place, ast.Tuple | ast.List):
            parts = (
                value.elts if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(place.elts) else None
            )
            for k, item in enumerate(place.elts):
                one = None if parts is None else parts[k]
                self._bind(item, one, dict.fromkeys(shown, SAME) if one is None else self.shown(one))
        elif isinstance(place, _CHAIN):
            root, deep = self._rooted(place)
            self.changes.append((root, deep - 1, place.lineno))
            self.held.setdefault(root, {}).update({one: WITHIN for one in shown if one != root})

    # -- expressions -------------------------------------------------------------------------------------------------

    def shown(self, node: ast.AST) -> Held:
        """The names whose values an expression is, shows elements of, or has inside."""
        match node:
            case ast.Name(identifier):
                return {self._now(identifier): SAME}
            case ast.Attribute(_, attr) if attr in _SIZES:
                return {}
            case ast.Subscript(_, ast.List()):  # of an array: a copy
                return {}
            case ast.Subscript(value) | ast.Attribute(value) | ast.Starred(value):
                return self.shown(value)
            case ast.NamedExpr(target, value):
                return {self._now(target.id): SAME, **self.shown(value)}
            case ast.IfExp(_, one, other):
                return {**self.shown(one), **self.shown(other)}
            case ast.BoolOp(_, values):
                return {name: how for one in values for name, how in self.shown(one).items()}
            case ast.Tuple() | ast.List() | ast.Set():
                return {name: WITHIN for one in node.elts for name in self.shown(one)}
            case ast.Dict(_, values):
                return {name: WITHIN for one in values for name in self.shown(one)}
            case ast.ListComp(element, generators) | ast.SetComp(element, generators):
                return self._of_comprehension(element, generators)
            case ast.DictComp(_, element, generators):
                return self._of_comprehension(element, generators)
            case ast.Call():
                return self._shown_by_call(node)
        return {}

    def _of_comprehension(self, element: ast.expr, generators: list[ast.comprehension]) -> Held:
        found, inside = self.shown(element), {}
        for each in generators:
            bound = {self._now(n.id) for n in ast.walk(each.target) if isinstance(n, ast.Name)}
            if bound & set(found):
                inside.update(dict.fromkeys(self._inside(each.iter), WITHIN))
            found = {name: how for name, how in found.items() if name not in bound}
        return {**dict.fromkeys(found, WITHIN), **inside}

    def _inside(self, node: ast.expr) -> Held:
        """The names whose items a loop over an expression gives."""
        return dict.fromkeys(self.shown(node), SAME)

    def _has_numbers(self, value: ast.expr) -> bool:
        """Whether the items of a value are seen to be numbers."""
        match value:
            case ast.Dict(values=items):
                return _are_numbers(items)
            case ast.List(items) | ast.Tuple(items) | ast.Set(items):
                return _are_numbers(items)
            case ast.Call(function, [ast.List(items)]) if items:
                found = binding_of_text(function, self.module)
                return found is not None and found.object is np.array and _are_numbers(items)
        return False

    def _given(self, call: ast.Call) -> Held:
        values = [*call.args, *(word.value for word in call.keywords)]
        return {name: how for one in values for name, how in self.shown(one).items()}

    def _shown_by_call(self, call: ast.Call) -> Held:
        found = binding_of_text(call.func, self.module)
        if found is not None and found.static is not None:
            return self._by_own_function(call, found.static)[0]
        if found is not None and found.kind == "unknown":  # a class of the module
            return dict.fromkeys(self._given(call), WITHIN)
        if found is None or found.object is None:
            method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            shows = method in ("view", "items", "values") or _shows(METHODS.get(method))
            return self.shown(call.func.value) if shows and isinstance(call.func, ast.Attribute) else {}
        if any(found.object is one for one in _INTO_CONTAINERS):
            return dict.fromkeys(self._given(call), WITHIN)
        return self._given(call) if _shows(found.object) else {}

    # -- calls -------------------------------------------------------------------------------------------------------

    def _call(self, call: ast.Call) -> None:
        """What a call changes: what is `out=`, what a function of the module writes into, a list by its method."""
        for word in call.keywords:
            if word.arg == "out":
                self.changes += [(name, 0, call.lineno) for name in self.shown(word.value)]
        found = binding_of_text(call.func, self.module)
        if found is not None and found.static is not None:
            self.changes += [(name, 0, call.lineno) for name in self._by_own_function(call, found.static)[1]]
        elif isinstance(call.func, ast.Attribute) and call.func.attr in CHANGES:
            root, deep = self._rooted(call.func)
            self.changes.append((root, deep - 1, call.lineno))

    def _by_own_function(self, call: ast.Call, function: StaticFunction) -> tuple[Held, list[str]]:
        """The names that a call's result shows, and those that it changes."""
        known = self.functions.get(function.qualname)
        if known is None:
            every = ast.walk(function.node.args)
            own = tuple(one.arg for one in every if isinstance(one, ast.arg))
            known = Sharing(function.module, functions=self.functions, parameters=own)
            self.functions[function.qualname] = known
            body = getattr(function.node, "body", [])
            known.block(body if isinstance(body, list) else [ast.copy_location(ast.Return(body), body)], straight=True)
        parameters = [one.arg for one in (*function.node.args.posonlyargs, *function.node.args.args)]
        given = [*zip(parameters, call.args, strict=False), *((word.arg or "", word.value) for word in call.keywords)]
        held, written = {}, []
        for parameter, value in given:
            names = self.shown(value)
            if any(known.reaches(name, SAME, parameter) for name in known.returned):
                held.update(names)
            if any(known.reaches(changed, deep, parameter) for changed, deep, _ in known.changes):
                written += list(names)
        return held, written


def _shows(function: Any) -> bool:
    """Whether a function of NumPy may hand out its argument, or a view of it."""
    return rule_of(function) is not None and may_show(function, {})


def _is_main(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and ast.unparse(test).replace('"', "'") == "__name__ == '__main__'"


def _are_numbers(items: list[ast.expr]) -> bool:
    parts = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.unaryop, ast.operator)
    return all(isinstance(part, parts) for one in items for part in ast.walk(one))


def _is_item(value: ast.expr) -> bool:
    """Whether a value is an item of a list, dict or array: `d["a"]`, `d.get("a")`; a slice is none."""
    if isinstance(value, ast.Subscript):
        return not any(isinstance(part, ast.Slice) for part in ast.walk(value.slice))
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "get"

"""One group of statements that become a kernel: what it takes, computes, stores and sums."""

from __future__ import annotations

from dataclasses import dataclass, field

import gast
import numpy as np

from srcgrad.emit.expression import expression as spelled
from srcgrad.facts import Facts, copied
from srcgrad.front.resolve import binding_of
from srcgrad.opencl.printer import FLAT, NotElementwiseError, Printer
from srcgrad.rules import rule_of
from srcgrad.trees import Block, Node, at, constant, copy, loads, name, root, stores, substitute, target, walk

_METHODS = ("copy", "reshape", "transpose", "astype")
_FEWEST = 2  # operations on arrays that make a kernel worth its call


@dataclass
class Group:
    """Statements in order, and where their values come from and go to."""

    facts: Facts
    primal: bool = False  # whether the statements are of the forward half: their dtypes are seen
    hopeful: bool = True  # whether arrays that are reduced to each other's shapes are taken to have one shape
    wholes: dict[str, None] = field(default_factory=dict)  # names that must then have the shape of the whole
    statements: Block = field(default_factory=list)  # of the kernel: `t = e`, `s = np.sum(e)`, `w = sum_to(e, x)`
    augmented: dict[Node, Node] = field(default_factory=dict)  # of statements that were `t += e`, that form
    before: Block = field(default_factory=list)
    after: Block = field(default_factory=list)
    original: Block = field(default_factory=list)  # all of them, as they were
    arguments: dict[str, Node] = field(default_factory=dict)  # parameter -> what is passed
    stored: list[str] = field(default_factory=list)  # names bound to arrays
    sums: list[str] = field(default_factory=list)  # names bound to sums
    operations: int = 0

    def take(self, node: Node) -> bool:
        """Make a statement part of the group, of what goes before it, or of what comes after it."""
        if isinstance(node, gast.Pass):
            self.original.append(node)
            (self.after if self.statements else self.before).append(node)
            return True
        saved = (len(self.statements), dict(self.arguments), list(self.stored), list(self.sums), self.operations)
        wholes = dict(self.wholes)
        try:
            taken = self._take(node)
        except NotElementwiseError:
            taken = False
        if taken:
            self.original.append(node)
            return True
        del self.statements[saved[0] :]
        _, self.arguments, self.stored, self.sums, self.operations = saved
        self.wholes = wholes
        if self._passes(node, self.bound(), self.before):
            self.original.append(node)
            return True
        return False

    def bound(self) -> set[str]:
        """Names that the kernel, or what comes after it, binds."""
        return {s for node in [*self.statements, *self.after] for s in stores(node)}

    def _passes(self, node: Node, bound: set[str], place: Block) -> bool:
        """Put a statement in front of the group, if it neither reads nor binds what the group binds or reads."""
        if not self.statements or target(node) is None or not self._is_pure(node.value):
            return False
        read = {r for other in [*self.statements, *self.after] for r in loads(other)}
        read |= {r for argument in self.arguments.values() for r in loads(argument)}
        if set(loads(node)) & bound or set(stores(node)) & (bound | read):
            return False
        place.append(node)
        return True

    def _take(self, node: Node) -> bool:
        deferred = {s for other in self.after for s in stores(other)}
        if not isinstance(node, gast.Assign | gast.AugAssign) or set(loads(node)) & (deferred | set(self.sums)):
            return False
        place = node.targets[0] if isinstance(node, gast.Assign) else node.target
        if not isinstance(place, gast.Name) or (isinstance(node, gast.Assign) and len(node.targets) > 1):
            return False
        if set(stores(node)) & {r for other in self.after for r in [*loads(other), *stores(other)]}:
            return False
        value = node.value
        if isinstance(node, gast.AugAssign):
            value = gast.BinOp(name(place.id), node.op, value)
        if self._is_number(value):
            return False
        if self._is_elementwise(value):
            made = self._operand(value)
            self.statements.append(at(gast.Assign([name(place.id, gast.Store())], made, None), node))
            written = node if isinstance(node, gast.AugAssign) else self.facts.as_written(node)
            if isinstance(written, gast.AugAssign):  # an array keeps its dtype, in the Python body, too
                again = gast.AugAssign(name(place.id, gast.Store()), written.op, made.right)
                self.augmented[self.statements[-1]] = at(again, node)
            if place.id not in self.stored:
                self.stored.append(place.id)
            return True
        return self._take_sums(node, place.id)

    def _take_sums(self, node: Node, bound: str) -> bool:
        """The sums in a statement go to the kernel; the statement itself comes after it and reads them."""
        found = self._sum_of(node.value)
        if isinstance(node, gast.Assign) and found is not None:
            self._add_sum(bound, *found, node)
            return bound not in self.stored
        if bound in self.bound() or isinstance(node.value, gast.Name):
            return False
        changed = at(copied(node, self.facts), node)
        sums = [(n, pair) for n in walk(changed.value) if (pair := self._sum_of(n)) is not None]
        if not sums:
            return False
        for call, pair in sums:
            held = self.facts.names.fresh("total")
            self._add_sum(held, *pair, node)
            _replace(changed, call, name(held))
        self.after.append(changed)
        return True

    def _add_sum(self, bound: str, value: Node, like: Node | None, node: Node) -> None:
        made = self._operand(value)
        helper = self.facts.library("sum_to") if like is not None else self.facts.library("np")
        function = name(helper) if like is not None else gast.Attribute(name(helper), "sum", gast.Load())
        if like is not None and set(loads(like)) & set(self.stored):
            raise NotElementwiseError
        shape = [] if like is None else [self._argument(like)]
        call = gast.Call(function, [made, *shape], [])
        self.statements.append(at(gast.Assign([name(bound, gast.Store())], call, None), node))
        self.sums.append(bound)

    def _sum_of(self, node: Node) -> tuple[Node, Node | None] | None:
        """The e and x of `np.sum(e)` and `sum_to(e, x)`, for elementwise e."""
        if not isinstance(node, gast.Call) or node.keywords:
            return None
        function, args = node.func, node.args
        spells_np = isinstance(function, gast.Attribute) and isinstance(function.value, gast.Name)
        if (
            spells_np
            and function.value.id == self.facts.imports.get("np")
            and function.attr == "sum"
            and len(args) == 1
        ):
            pair = (args[0], None)
        elif isinstance(function, gast.Name) and function.id == self.facts.imports.get("sum_to") and len(args) == 2:
            if self._shaped(node) is not None:
                return None
            pair = (args[0], args[1])
        else:
            return None
        held = isinstance(pair[0], gast.Name) and pair[0].id in self.stored
        return pair if (held or self._is_elementwise(pair[0])) and not self._is_number(pair[0]) else None

    def _is_elementwise(self, node: Node) -> bool:
        """Whether the outermost operation of an expression is elementwise."""
        if isinstance(node, gast.BinOp):
            return isinstance(node.op, gast.Add | gast.Sub | gast.Mult | gast.Div | gast.Pow)
        if isinstance(node, gast.UnaryOp):
            return isinstance(node.op, gast.USub)
        if isinstance(node, gast.Call) and not node.keywords:
            if self._shaped(node) is not None:
                return True
            function = self.printer().function(node)
            rule = rule_of(function)
            if function in FLAT or function is np.where:
                return True
            return rule is not None and rule.kind == "elementwise" and rule.cl is not None
        return False

    def _shaped(self, node: Node) -> tuple[int, Node] | None:
        """Where the value is among the arguments of `sum_to(e, x)`, `np.broadcast_to(e, np.shape(x))` and
        `np.full_like(x, e)`, and the name x, if it is hoped to have the shape of the whole.
        """
        printer = self.printer()
        found = printer.shaped(node) if self.hopeful else None
        if found is None or self._is_number(found[1]) or not isinstance(found[1], gast.Name):
            return None
        return found

    def _operand(self, node: Node) -> Node:
        """An expression over names of the group and its arguments."""
        shaped = self._shaped(node) if isinstance(node, gast.Call) else None
        if shaped is not None:
            value, like = shaped
            made = copied(node, self.facts)
            made.args[value] = self._operand(node.args[value])
            if like.id in self.sums:
                raise NotElementwiseError
            if like.id not in self.stored:
                self._argument(like)
            self.wholes[like.id] = None
            return made
        if isinstance(node, gast.Name):
            return self._argument(node) if node.id not in self.stored else name(node.id)
        if isinstance(node, gast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
            return constant(node.value)
        if self._is_elementwise(node) or (isinstance(node, gast.Compare) and len(node.ops) == 1):
            self.operations += not self._is_number(node)
            made = copy(node)
            if isinstance(node, gast.BinOp):
                made.left, made.right = self._operand(node.left), self._operand(node.right)
            elif isinstance(node, gast.UnaryOp):
                made.operand = self._operand(node.operand)
            elif isinstance(node, gast.Compare):
                made.left, made.comparators = self._operand(node.left), [self._operand(node.comparators[0])]
            else:
                made.args = [self._operand(argument) for argument in node.args]
                chosen = self.printer().function(node) is np.where and all(map(self._is_number, node.args[1:]))
                if self.primal and chosen:  # float64 for two Python floats, whatever is asked
                    raise NotElementwiseError
            return made
        return self._argument(node)

    def _argument(self, node: Node) -> Node:
        """What the kernel is given: a name, or an expression that it does not compute itself."""
        if set(loads(node)) & (set(self.stored) | set(self.sums)) or not self._is_pure(node):
            raise NotElementwiseError
        if isinstance(node, gast.Name):
            self.arguments.setdefault(node.id, name(node.id))
            return name(node.id)
        text = spelled(node)
        for parameter, known in self.arguments.items():
            if spelled(known) == text:
                return name(parameter)
        base = root(node)
        parameter = self.facts.names.fresh(f"{base.id if base is not None else 'u'}_part")
        self.arguments[parameter] = copy(node)
        return name(parameter)

    def _is_number(self, node: Node) -> bool:
        """Whether a value is known to be no array."""
        shaped = self.printer().shaped(node) if isinstance(node, gast.Call) else None
        if shaped is not None:
            return self._is_number(shaped[1])
        if isinstance(node, gast.Constant):
            return True
        if isinstance(node, gast.Name):
            spec = self.facts.value_spec.get(self.facts.adjoint_of.get(node.id, node.id))
            seed = node.id in self.facts.seeds and self.facts.mode in ("reverse", "value-and-grad")
            return seed or (spec is not None and spec.scalar)
        if isinstance(node, gast.BinOp):
            return self._is_number(node.left) and self._is_number(node.right)
        if isinstance(node, gast.UnaryOp):
            return self._is_number(node.operand)
        if isinstance(node, gast.Call) and self._is_elementwise(node):
            return all(self._is_number(argument) for argument in node.args)
        return False

    def printer(self) -> Printer:
        """What prints its expressions."""
        count = iter(range(1, 10_000))
        imports = self.facts.imports
        return Printer(imports.get("np", "np"), imports.get("sum_to", ""), lambda: f"u{next(count)}", self._means)

    def _means(self, function: Node) -> object:
        """What a name of the user's, such as `erf` or `special.erf`, means."""
        base = root(function)
        if base is None or not isinstance(function, gast.Name | gast.Attribute) or base.id in self.facts.local:
            return None
        meant = substitute(function, {base.id: name(self.facts.globals_as.get(base.id, base.id))})
        found = binding_of(meant, self.facts, self.facts.local)
        return found.object if found is not None and found.kind == "object" else None

    def _is_pure(self, node: Node) -> bool:
        """Whether an expression may be evaluated earlier than it stands: what it calls has a rule, or is our own."""
        for item in walk(node):
            if not isinstance(item, gast.Call):
                continue
            base = root(item.func)
            library = base is not None and base.id in self.facts.imports.values()
            method = isinstance(item.func, gast.Attribute) and item.func.attr in _METHODS
            plain = isinstance(item.func, gast.Name) and item.func.id == "len"
            if not library and not method and not plain and rule_of(self._means(item.func)) is None:
                return False
        return True

    def is_worth_it(self) -> bool:
        """Whether there is enough work on arrays."""
        return self.operations >= _FEWEST and bool(self.arguments)

    def plain(self) -> Block:
        """The statements as they were."""
        return self.original


def _replace(node: Node, old: Node, new: Node) -> None:
    for item in walk(node):
        for key in item._fields:
            part = getattr(item, key, None)
            if part is old:
                setattr(item, key, new)
            elif isinstance(part, list):
                setattr(item, key, [new if child is old else child for child in part])

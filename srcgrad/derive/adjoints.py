"""The adjoints of one backward half: which exist, which are known to be zero, how a contribution is added."""

from __future__ import annotations

from dataclasses import dataclass, field

import gast

from srcgrad.analyse.adjoint_shapes import spec_of_tree
from srcgrad.analyse.complexes import may_be_complex
from srcgrad.derive.broadcast import flexible, full, is_summed, settle
from srcgrad.derive.conjugates import real_part
from srcgrad.derive.masks import Mask
from srcgrad.derive.spreads import is_spread, narrow_form
from srcgrad.derive.states import ABSENT, EITHER, NUMBER, PRESENT, ZERO, State
from srcgrad.facts import UNKNOWN, Facts, Spec, copied
from srcgrad.front.integers import may_count
from srcgrad.indices import as_value
from srcgrad.kinds import part_of
from srcgrad.names import bar
from srcgrad.trees import Block, Node, assign, constant, expression, name, statement


@dataclass
class Adjoints:
    """State of the adjoints at the current place of the backward half, and the names that they go by."""

    facts: Facts
    state: State = field(default_factory=dict)
    specs: dict[str, Spec] = field(default_factory=dict)
    outputs: dict[str, list[tuple[int, Node]]] = field(default_factory=dict)  # tuple -> adjoints of parts that matter
    masks: dict[str, Mask] = field(default_factory=dict)  # primal -> where its adjoint may be nonzero, if known
    mask_stacks: dict[str, str] = field(default_factory=dict)  # stack -> that of the masks of its items' adjoints
    flags: dict[str, str] = field(default_factory=dict)  # primal -> what says whether anything was added to its adjoint
    flag: str = ""  # that of the statement whose contributions are made
    flag_names: dict[tuple[Node, str], str] = field(default_factory=dict)  # statement, primal -> the flag that it makes
    flag_stacks: dict[str, str] = field(default_factory=dict)  # stack -> that of the flags of its items' adjoints
    flag_sides: dict[str, Block] = field(default_factory=dict)  # flag -> the one side of a branch that sets it
    guarded: dict[str, None] = field(default_factory=dict)  # primal values whose adjoints are made under a flag
    arriving: dict[str, list[Mask | None]] = field(default_factory=dict)  # ... of what a statement contributes
    depth: int = 0  # how many branches are around the current place

    def of(self, primal: str) -> str:
        """The name of the adjoint of `primal`."""
        spelled = self.facts.spelled
        if primal not in spelled:
            stem = self.facts.temporaries.get(primal)
            spelled[primal] = self.facts.names.fresh(bar("y" if stem == "y" else primal))
            self.facts.adjoint_of[spelled[primal]] = primal
        return spelled[primal]

    def exists(self, primal: str) -> bool:
        """Whether the adjoint may be nonzero here."""
        return self.state.get(primal, ABSENT) in (PRESENT, EITHER)

    def unbound(self, primal: str) -> bool:
        """Whether the primal may have no value here: it is bound in a branch, and this is outside of that."""
        return self.facts.branch_depth.get(primal, 0) > self.depth

    def read(self, primal: str, spec: Spec | None) -> Node:
        """The adjoint as an operand."""
        made = name(self.of(primal))
        spec = self.specs.get(primal, spec)
        if spec is not None:
            self.facts.spec[made] = spec
        return made

    def arrive(self, primal: str, mask: Mask | None) -> None:
        """Note where a contribution to an adjoint may be nonzero, if anybody wants to know."""
        if primal in self.facts.masked:
            self.arriving.setdefault(primal, []).append(mask)

    def contribute(self, operand: Node, value: Node, into: Block, like: Node) -> None:
        """Add `value` to the adjoint of the operand's name, in the operand's shape."""
        facts = self.facts
        value = self.fitting(operand, value)
        if value in facts.reduced:
            value = settle(self, operand, value, like)
        elif is_spread(value, facts):
            value = self.spread(operand, value)
        self.contribute_whole(operand, value, into, like)

    def spread(self, operand: Node, value: Node) -> Node:
        """The adjoint of a sum: as it is where broadcasting does the work, otherwise expanded."""
        narrow = narrow_form(value, self.facts)
        if narrow is None:
            return value
        made = spec_of_tree(narrow, self.facts)
        if flexible(operand, self.facts) or (made.scalar and is_summed(operand, self.facts)):
            self.specs[operand.id] = made
            return narrow
        return narrow if self.exists(operand.id) else full(narrow, operand, self.facts)

    def contribute_whole(self, operand: Node, value: Node, into: Block, like: Node) -> None:
        """Add a value that has the operand's own shape to its adjoint."""
        primal = operand.id
        self.masks.pop(primal, None)
        self.flags.pop(primal, None)
        value = self.fitting(operand, value)
        spec = self.specs.get(primal, self.facts.spec.get(operand))
        target = self.of(primal)
        shared = primal in self.facts.indexed and primal not in self.facts.containers
        if not self.exists(primal) and shared and primal in self.facts.complex:
            value = expression(f"{self.facts.library('np')}.array(value, dtype=complex)", value=value)
        elif not self.exists(primal) and shared and not is_fresh_value(value, self.facts):
            value = expression(f"{self.facts.library('np')}.array(value)", value=value)  # its elements will change
        if self.exists(primal) and (primal in self.facts.containers or primal in self.facts.summed):
            helper = self.facts.library("add")
            made = assign(target, expression(f"{helper}(one, two)", one=self.read(primal, spec), two=value), like)
        elif self.exists(primal):
            made = assign(target, gast.BinOp(self.read(primal, spec), gast.Add(), value), like)
            self.facts.accumulates[made] = None
        else:
            if self.facts.list_kind(primal) == "list" and not is_list(value):
                value = expression("list(value)", value=value)  # its items will change
            elif self.has_parts(primal) and self.facts.reads.get(primal, 0) > 1:
                value = self.own_parts(primal, spec, value)
            if self.is_half(primal) and self.facts.reads.get(primal, 0) > 1 and primal not in self.facts.rebound:
                value = self.widened(value)
            made = assign(target, value, like)
        self.note(made, spec)
        into.append(made)
        self.state[primal] = PRESENT

    def has_parts(self, primal: str) -> bool:
        """Whether parts are read of a container which the function does not change."""
        facts = self.facts
        return primal in facts.containers and primal in facts.indexed and not facts.list_kind(primal)

    def own_parts(self, primal: str, spec: Spec | None, value: Node) -> Node:
        """The adjoint of a container to whose parts something will be added: it may be a tuple, or part of the seed."""
        zeros = self.zero_value(primal, spec, bound=True)
        return expression(f"{self.facts.library('add')}(zeros, value)", zeros=zeros, value=value)

    def widened(self, value: Node) -> Node:
        """The first of several contributions to an adjoint of float16, in float32."""
        np_, spec = self.facts.library("np"), spec_of_tree(value, self.facts)
        if spec.ndim:
            return expression(f"(value).astype({np_}.float32)", value=value)
        return expression(
            f"{np_}.{'float32(value)' if spec.scalar else f'asarray(value, dtype={np_}.float32)'}", value=value
        )

    def is_half(self, primal: str) -> bool:
        """Whether a primal value is of float16: its adjoint is added up in float32."""
        spec = self.facts.value_spec.get(primal)
        known = spec is not None and spec.dtype == {"float16"}
        return known or self.facts.kinds.get(primal, UNKNOWN).dtype == "float16"

    def fitting(self, operand: Node, value: Node) -> Node:
        """The contribution to something real is real."""
        held = operand.id
        holder = held in self.facts.containers or self.facts.list_kind(held)
        return value if held in self.facts.complex or holder else real_part(value, self.facts)

    def of_value(self, node: Node, bound: str) -> Node:
        """The adjoint of what a statement binds: its real part, where only other statements bind something complex."""
        facts = self.facts
        read = self.read(bound, facts.spec.get(node))
        holder = bound in facts.containers or facts.list_kind(bound)
        if bound in facts.complex and not holder and not may_be_complex(node.value, facts):
            return real_part(read, facts)
        return read

    def element_zeros(self, primal: str, spec: Spec | None, like: Node) -> Node:
        """Zeros to whose elements something will be added: an array, also where the primal is a number."""
        if primal in self.facts.containers or self.is_half(primal):
            return self.zeros(primal, spec, like, bound=True)
        helper = self.facts.library("np") + ".zeros_like"
        if primal in self.facts.inner:
            helper = self.facts.library("zeros_like")  # it may hold integers
        known = primal not in self.facts.complex or self.facts.kinds.get(primal, UNKNOWN).complex
        dtype = "" if known else ", dtype=complex"
        made = assign(self.of(primal), expression(f"{helper}(primal{dtype})", primal=primal), like)
        self.facts.zeros[made] = None
        self.note(made, spec)
        self.state[primal] = ZERO
        return made

    def note(self, made: Node, spec: Spec | None) -> None:
        """Keep what is known of the value that a backward statement binds."""
        if spec is not None:
            self.facts.spec[made] = spec

    def element(self, operand: Node, index: Node, value: Node, basic: bool, into: Block, like: Node) -> None:
        """`x_bar[index] += value`, on an array that this code made."""
        primal = operand.id
        self.masks.pop(primal, None)
        self.flags.pop(primal, None)
        into.extend(self.whole(primal, self.facts.spec.get(operand), like))
        target = self.of(primal)
        held = primal in self.facts.containers
        if held and (primal in self.facts.complex or not _is_plain(primal, index, self.facts)):  # one may be real
            helper = self.facts.library("add")
            again = copied(index, self.facts)
            made = statement(
                f"target[index] = {helper}(target[again], value)", target=target, index=index, again=again, value=value
            )
        elif basic or held:
            made = statement("target[index] += value", target=target, index=index, value=value)
        else:
            helper = self.facts.library("add_at")
            index = as_value(index)
            made = statement(f"{helper}(target, index, value)", target=target, index=index, value=value)
        made.lineno = like.lineno
        into.append(made)
        self.facts.elements[target] = None
        self.state[primal] = PRESENT

    def whole(self, primal: str, spec: Spec | None, like: Node) -> Block:
        """What makes an adjoint an array, of which elements can be read and changed, if it is not one for sure."""
        kind = self.state.get(primal, ABSENT)
        if kind in (ABSENT, NUMBER):
            return [self.element_zeros(primal, spec, like)]
        if kind != EITHER:
            return []
        zeros = self.zero_value(primal, spec, bound=True)
        held = primal in self.facts.containers
        sum_ = expression(
            f"{self.facts.library('add')}(zeros, old)" if held else "zeros + old", zeros=zeros, old=self.of(primal)
        )
        made = assign(self.of(primal), sum_, like)
        self.note(made, spec)
        self.state[primal] = PRESENT
        return [made]

    def half_zeros(self, primal: str) -> Node:
        """`np.zeros_like(x, dtype=np.float32)`"""
        np_ = self.facts.library("np")
        return expression(f"{np_}.zeros_like(primal, dtype={np_}.float32)", primal=primal)

    def zeros(self, primal: str, spec: Spec | None, like: Node, bound: bool = False) -> Node:
        """`x_bar = zeros`: of the primal's shape, and of a float dtype; 0.0 where the primal is not bound."""
        value = self.zero_value(primal, spec, bound)
        made = assign(self.of(primal), value, like)
        self.facts.zeros[made] = None
        self.note(made, spec)
        self.state[primal] = NUMBER if self.unbound(primal) and not bound else ZERO
        return made

    def zero_value(self, primal: str, spec: Spec | None, bound: bool = False) -> Node:
        """Zeros that mirror a primal value; 0.0 if that may have none here, unless it is known to be `bound`."""
        kind = self.facts.kinds.get(primal, UNKNOWN)
        if self.unbound(primal) and not bound:
            return constant(0.0)
        parameter = primal in self.facts.wrt and primal not in self.facts.inner
        if kind.tag == "scalar" or (not parameter and spec is not None and spec.scalar):
            return expression(f"{self.facts.library('np')}.float32(0.0)") if self.is_half(primal) else constant(0.0)
        if self.is_half(primal) and primal not in self.facts.containers:
            return self.half_zeros(primal)
        parameter = parameter and primal not in self.facts.containers and not may_count(primal, self.facts)
        if parameter and kind.tag in ("unknown", "array"):
            return expression(f"{self.facts.library('np')}.zeros_like(primal)", primal=primal)
        zeros = f"{self.facts.library('zeros_like')}(primal)"
        mutable = self.facts.containers.get(primal) == "tuple" and primal not in self.facts.mixed
        return expression(f"list({zeros})" if mutable else zeros, primal=primal)


_NESTS = ("tuple", "list", "dict", "object")


def _is_plain(primal: str, index: Node, facts: Facts) -> bool:
    """Whether a part of a container is a number or an array, to which `+=` adds."""
    if facts.list_kind(primal) or isinstance(index, gast.Slice):
        return False
    kind = facts.kinds.get(primal)
    if kind is None:
        return True
    found = part_of(kind, index).tag
    literal = isinstance(getattr(index, "operand", index), gast.Constant)
    if found == "unknown" and not literal and any(part.tag in _NESTS for _, part in kind.items):
        return False  # items of several kinds: `+=` would join two tuples
    return found in ("scalar", "array", "unknown")


def is_list(value: Node) -> bool:
    """Whether an expression makes a list."""
    called = getattr(value.func, "id", "") if isinstance(value, gast.Call) else ""
    return isinstance(value, gast.List) or called == "list"


def is_fresh_value(value: Node, facts: Facts) -> bool:
    """Whether an expression makes an array that nothing else holds."""
    if isinstance(value, gast.BinOp):
        return True
    if isinstance(value, gast.UnaryOp):
        return isinstance(value.op, gast.USub)
    if isinstance(value, gast.Call):
        if isinstance(value.func, gast.Name) and value.func.id == facts.imports.get("sum_to"):
            return is_fresh_value(value.args[0], facts)
        if isinstance(value.func, gast.Name) and value.func.id in [facts.imports.get(one) for one in MAKERS]:
            return True
        return isinstance(value.func, gast.Attribute) and value.func.attr in _MAKERS
    return False


# Helpers whose result is an array of its own, whatever they are given.
MAKERS = ("zeros_like", "matmul_left", "matmul_right", "matmul_both", "dot_left", "dot_right", "dot_both")
_MAKERS = ("astype", "sum", "where", "full_like", "zeros_like", "exp", "cos", "sin", "log", "outer", "matmul", "dot")

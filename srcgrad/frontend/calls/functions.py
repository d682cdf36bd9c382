"""Functions as values, and derivatives of them that a function asks for.

Derivatives that a function asks for in its body: `grad(g)(x)`, `jvp(g, (x,), (v,))`, `y, pullback = vjp(g, x)`.

Functions as values: nested ones, lambdas, methods, partial applications, functions passed as arguments.
"""

from __future__ import annotations

import functools
import inspect
import types
from dataclasses import field
from typing import (
    TYPE_CHECKING,
    Any,  # functions of srcgrad are arbitrary objects
)

import gast

import srcgrad.templates as templates
from srcgrad.core.bindings import Binding, attribute
from srcgrad.core.identity import cached_function, home, is_distribution, record, replace
from srcgrad.core.marks import Checkpoint, is_opaque
from srcgrad.core.rules import FunctionArgument, is_composition, rule_of, written_out
from srcgrad.core.target import DEFAULT
from srcgrad.core.trees import Node, copy, expression, literal_value
from srcgrad.frontend.kinds_of_values import NOTHING, is_instance, live_object, note_call, shadows
from srcgrad.frontend.resolve import binding_of, by_totals, is_sparse
from srcgrad.runtime.hooks import call as call_held

if TYPE_CHECKING:
    from srcgrad.core.facts import Facts, Kind


MAKERS = ("reverse", "value-and-grad", "elementwise", "hvp", "jacobian", "hessian")  # what is made is a function
OPTIONS = {"wrt", "argnums", "has_aux", "mode", "target"}


@record(frozen=True)
class WantedDerivative:
    """A derivative of a function: in which mode, with respect to what; `tangents` are those of a call of `jvp`."""

    mode: str  # a mode of the pipeline, or jacobian, hessian
    of: Function
    wrt: tuple[int | str, ...] | None = (0,)  # None: every argument
    single: bool = True
    auxiliary: bool = False
    tangents: tuple[Node, ...] = ()


def made_by(node: Node, facts: Facts, local: frozenset[str]) -> str:
    """The mode of a call of `grad`, `jvp` and the like; empty for any other expression."""
    if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Name | gast.Attribute):
        return ""
    found = binding_of(node.func, facts, local)
    if found is None or found.kind != "object" or found.static is not None:
        return ""
    return str(getattr(found.object, "__dict__", {}).get("__srcgrad_makes__", ""))


def wanted_of(call: Node, mode: str, of: Function, facts: Facts) -> WantedDerivative:
    """What a call such as `grad(g, wrt=(0, "b"))` asks for; E5005 where that is not written in the call itself."""
    given: dict[str, object] = {}
    if mode in MAKERS and len(call.args) > 1:
        given["wrt"] = _literal(call.args[1], facts)
    for word in call.keywords:
        if word.arg not in OPTIONS:
            raise facts.refuse(word.value, "E5005", f"`{word.arg}=` is no option of a derivative", "leave it out")
        given[word.arg] = _literal(word.value, facts)
    if given.get("target", DEFAULT) != DEFAULT:
        raise facts.refuse(
            call, "E5019", "a derivative inside of a function runs where the function does", "leave `target` out"
        )
    asked = given.get("wrt", 0 if mode not in ("vjp", "linearize") else None)
    asked = asked if given.get("argnums") is None else given["argnums"]
    every = asked is None or (asked == "all" and given.get("argnums") == "all")
    wrt = None if every else tuple(asked) if isinstance(asked, tuple | list) else (asked,)
    single = not every and not isinstance(asked, tuple | list)
    return WantedDerivative(mode, of, wrt, single, bool(given.get("has_aux", False)))


def not_known(call: Node, facts: Facts) -> Exception:
    """The refusal of a derivative of something that is not known to be a function."""
    return facts.refuse(
        call,
        "E5003",
        "the function to differentiate is not known before the call runs",
        "name a function: of a module, one that stands in this function, or an argument of it",
    )


def _literal(node: Node, facts: Facts) -> Any:
    try:
        return literal_value(node)
    except (ValueError, TypeError):
        raise facts.refuse(
            node, "E5005", "an option of a derivative that is not a literal", "write the value here: `wrt=0`"
        ) from None


@record(frozen=True)
class Function:
    """A function that is known when the derivative is made.

    Either `tree`, a function defined inside of another whose facts are `owner`, or `binding`, what a name of some
    module means. `args` and `words` are arguments that it gets before those of the call.
    """

    name: str
    tree: Node | None = None
    owner: Facts | None = None
    binding: Binding | None = None
    args: tuple[Node, ...] = ()
    words: dict[str, Node] = field(default_factory=dict)
    whole: type | None = None  # the class of the object whose method it is
    wanted: WantedDerivative | None = None  # a derivative, which is made where it is called
    spelled: Node | None = None  # the expression that was given the name
    cls: type | None = None  # the class itself, or the one that a class method gets first
    kind: Any = None  # what is known of that object: its facts.Kind
    value: Any = None  # the object, where it is one of the module
    kept: bool = False  # whether `functools.cache` or `lru_cache` holds what it gave

    @property
    def called(self) -> Any:
        """What `Module.source` knows a callee by."""
        assert self.binding is not None, "a nested function has a tree of its own"
        return self.binding.static if self.binding.static is not None else self.binding.object


def function_of(node: Node, facts: Facts, local: frozenset[str]) -> Function | None:
    """The function that an expression means; None if it means none, or if only a run can tell."""
    if isinstance(node, gast.Name) and node.id in facts.names.functions:
        local_function: Function = facts.names.functions[node.id]
        return local_function
    if isinstance(node, gast.Call):
        return _derivative(node, facts, local) or _function_of_partial(node, facts, local)
    if isinstance(node, gast.Subscript):
        return _pullback(node, facts, local) or _owner_of(node, facts, local)
    found = binding_of(node, facts, local)
    if found is not None:
        return _of_object(found, node)
    if isinstance(node, gast.Attribute):
        if is_sparse(node.value, facts, lambda part: binding_of(part, facts, local)):
            return None
        if isinstance(node.value, gast.Call) and not node.value.args:
            return _inherited_method(node, facts, local)
        known = _owner_of(node.value, facts, local)
        if known is not None and known.cls is not None:
            of_class = attribute(Binding("object", known.cls), node.attr)
            return None if of_class is None else _of_object(of_class, node)
        if known is not None:
            method = None if known.whole is None else _method(known.whole, node, known.value, facts)
            return method or _owner_of(node, facts, local) or _function_of_owner(known, node, facts)
        owner = binding_of(node.value, facts, local)
        if owner is not None and _is_instance(owner):
            return _method(type(owner.object), node, owner.object, facts)
    return None


def _owner_of(node: Node, facts: Facts, local: frozenset[str]) -> Function | None:
    """What an expression is of which an attribute is read: an object whose class is known, or a class."""
    if isinstance(node, gast.Name) and node.id in facts.names.functions:
        known: Function = facts.names.functions[node.id]
        return known
    held = live_object(node, facts.namespace, local, None if facts.module is None else facts.module.methods)
    if held is not NOTHING and is_instance(held):
        call = inspect.getattr_static(type(held), "__call__", None)
        return Function("", binding=Binding("object", call), args=(copy(node),), whole=type(held), value=held)
    if isinstance(held, types.FunctionType | types.BuiltinFunctionType | types.MethodType):
        return _of_object(Binding("object", held), node) if isinstance(node, gast.Attribute) else None
    if isinstance(node, gast.Attribute):
        owner = _owner_of(node.value, facts, local)
        found = None if owner is None or owner.whole is None else _function_of_owner(owner, node, facts)
        if found is not None:
            return found
    kind = None if isinstance(node, gast.Name) else facts.kinds.of_expressions.get(node)
    return None if kind is None or kind.tag != "object" else _function_of_kind("", node, kind)


def _function_of_kind(spelled: str, node: Node, kind: Kind) -> Function:
    """An object of which no more than its kind is known."""
    call = inspect.getattr_static(kind.items[0][0], "__call__", None)
    return Function(spelled, binding=Binding("object", call), args=(copy(node),), whole=kind.items[0][0], kind=kind)


def _function_of_owner(owner: Function, node: Node, facts: Facts) -> Function | None:
    """A function, or an object of a class written in Python, that an object holds: `self.process`, `self.act`."""
    kind = None if owner.kind is None else dict(owner.kind.items[1:]).get(node.attr)
    if kind is None or kind.tag not in ("function", "object"):
        return None
    if kind.tag == "function":
        return _of_object(Binding("object", kind.items[0][0]), node)
    return _function_of_kind(node.attr, node, kind)


def called_by(call: Node, facts: Facts, local: frozenset[str]) -> Function | None:
    """The function that a call calls; of an operation, what it is written out as for these arguments."""
    found = function_of(call.func, facts, local)
    note_call(found.whole if found is not None else None, facts)
    rule = None if found is None or found.binding is None else rule_of(found.called)
    if rule is None and found is not None and found.binding is not None and is_composition(found.called):
        known = binding_of(call.func, facts, local)  # of reduce there are two: with and without a value to begin with
        rule = None if known is None else rule_of(known.object)
    composition = None
    if rule is not None:
        composition = by_totals(call, rule, facts) or written_out(
            rule, call.args, call.keywords, lambda node: function_of(node, facts, local) is not None
        )
    if found is None or composition is None:
        return found
    return replace(found, binding=Binding("object", composition))


def handed_of(call: Node, facts: Facts, local: frozenset[str]) -> FunctionArgument | None:
    """How the operation of a call treats a function that it is given; None if it takes none."""
    found = binding_of(call.func, facts, local) if isinstance(call, gast.Call) else None
    if found is None or found.kind != "object" or found.static is not None:
        return None
    module = home(found.object) or ""
    if not module.startswith(("scipy.", "srcgrad.runtime")):
        return None
    if rule_of(found.object) is None:
        templates.load_for(module)
    rule = rule_of(found.object)
    return None if rule is None else rule.handed


def argument_of(call: Node, parameter: str, facts: Facts, local: frozenset[str]) -> Node | None:
    """The argument that a call of an operation gives for a parameter."""
    for word in call.keywords:
        if word.arg == parameter:
            given: Node = word.value
            return given
    place = place_of(call, parameter, facts, local)
    return call.args[place] if place < len(call.args) else None


def place_of(call: Node, parameter: str, facts: Facts, local: frozenset[str]) -> int:
    """Where a parameter of an operation that is called stands."""
    found = binding_of(call.func, facts, local)
    assert found is not None, "the caller has looked"
    return list(inspect.signature(found.object).parameters).index(parameter)


def of_argument(parameter: str, kind: Kind) -> Function | None:
    """What an argument that is a function, or an object of a class written in Python, may be called as."""
    if kind.tag == "function":
        return _of_object(Binding("object", kind.items[0][0]), gast.Name(parameter, gast.Load(), None, None))
    if kind.tag != "object":
        return None
    return _function_of_kind(parameter, gast.Name(parameter, gast.Load(), None, None), kind)


def as_owner(parameter: str, node: Node, facts: Facts, local: frozenset[str]) -> Function | None:
    """What a parameter may be asked for if it is given a class, or an object of one that is written in Python."""
    found = binding_of(node, facts, local)
    if found is None and not isinstance(node, gast.Name):
        owner = _owner_of(node, facts, local)
        return None if owner is None or owner.whole is None else replace(owner, name=parameter)
    if found is None or found.kind != "object":
        return None
    if isinstance(found.object, type):
        return Function(parameter, binding=found, cls=found.object) if home(found.object) != "numpy" else None
    own = type(found.object)
    return Function(parameter, binding=found, whole=own) if own.__flags__ & _HEAP_TYPE else None


_HEAP_TYPE = 1 << 9  # a class made by a `class` statement


def _is_instance(found: Binding) -> bool:
    return found.kind == "object" and not isinstance(found.object, type | types.ModuleType | type(None))


def _of_object(found: Binding, node: Node) -> Function | None:
    """What a global name means, as a function."""
    value = found.object
    composition = None if (rule := rule_of(value)) is None else rule.composition
    if composition is not None and not inspect.isgeneratorfunction(composition):
        found, value = Binding("object", composition), composition
    spelled = node.attr if isinstance(node, gast.Attribute) else node.id
    if value is call_held:
        return None  # of what only a run knows
    if cached_function(value) is not value:
        inner = _of_object(Binding("object", cached_function(value)), node)
        return None if inner is None else replace(inner, kept=True)
    if found.static is not None:
        return Function(spelled, binding=found)
    if found.kind != "object" or isinstance(value, type | types.ModuleType):
        return None
    if rule_of(value) is not None or is_opaque(value):
        return Function(spelled, binding=found)
    if isinstance(value, functools.partial):
        args: list[Node] = [expression(f"whole.args[{k}]", whole=copy(node)) for k in range(len(value.args))]
        words = {key: expression(f"whole.keywords[{key!r}]", whole=copy(node)) for key in value.keywords}
        return Function(spelled, binding=Binding("object", value.func), args=tuple(args), words=words)
    if is_distribution(value) or is_distribution(getattr(value, "__self__", None)):
        return Function(spelled, binding=found)
    if isinstance(value, types.MethodType):
        own = expression("method.__self__", method=copy(node))
        cls = value.__self__ if isinstance(value.__self__, type) else None
        return Function(spelled, binding=Binding("object", value.__func__), args=(own,), cls=cls)
    if (home(value) or "").startswith("scipy."):
        templates.load_for(home(value) or "")
    if isinstance(value, types.FunctionType) or hasattr(value, "__srcgrad_primal__"):
        return Function(spelled, binding=found)
    derived = getattr(type(value), "as_function", None)  # a derivative that the function calls
    wanted = getattr(type(value), "wanted", None)
    if wanted is not None:
        mode, primal, wrt, single = wanted(value)
        of = _of_object(Binding("object", primal), gast.Name(spelled, gast.Load(), None, None))
        return None if of is None else Function(spelled, wanted=WantedDerivative(mode, of, wrt, single))
    if derived is not None:
        return Function(spelled, binding=Binding("object", derived(value)))
    call = inspect.getattr_static(type(value), "__call__", None)
    if isinstance(call, types.FunctionType) and rule_of(call) is None:
        return Function(spelled, binding=Binding("object", call), args=(copy(node),), whole=type(value))
    return Function(spelled, binding=found) if callable(value) else None


_USUAL = tuple(getattr(base, "__getattribute__", None) for base in (object, tuple, list, dict))


def _method(owner: type, node: Node, value: object, facts: Facts) -> Function | None:
    """`model.predict`, where `model` is an object of a class written in Python."""
    found = inspect.getattr_static(owner, node.attr, None)
    if shadows(value) or getattr(owner, "__getattribute__", None) not in _USUAL:
        return None
    if facts.module is not None:
        facts.module.methods.append((owner, node.attr, found, value))
    kept = cached_function(getattr(found, "__func__", found)) is not getattr(found, "__func__", found)
    found = cached_function(found)
    if isinstance(found, staticmethod) and isinstance(cached_function(found.__func__), types.FunctionType):
        return Function(node.attr, binding=Binding("object", cached_function(found.__func__)), kept=kept)
    if isinstance(found, classmethod) and isinstance(found.__func__, types.FunctionType):
        own_class = expression("type(a)", a=copy(node.value))
        return Function(node.attr, binding=Binding("object", found.__func__), args=(own_class,), cls=owner)
    if isinstance(found, types.FunctionType):
        bound = found if value is None else types.MethodType(found, value)
        if bound is not found and (rule_of(bound) is not None or is_opaque(bound)):
            return Function(node.attr, binding=Binding("object", bound))
    if isinstance(found, types.FunctionType | Checkpoint):
        return Function(node.attr, binding=Binding("object", found), args=(copy(node.value),), whole=owner, kept=kept)
    return None


def _inherited_method(node: Node, facts: Facts, local: frozenset[str]) -> Function | None:
    """`super().energy`, in a method of an object whose class is known: what the next of its classes has."""
    maker, here = binding_of(node.value.func, facts, local), facts.namespace.lookup("__class__")
    own = next((a.id for a in facts.source.tree.args.args), "")
    whole = None if facts.names.around or own not in facts.names.functions else facts.names.functions[own].whole
    order = [] if whole is None else list(whole.__mro__)
    if maker is None or maker.object is not super or here is None or here.object not in order or facts.module is None:
        return None
    after = next((one for one in order[order.index(here.object) + 1 :] if node.attr in vars(one)), object)
    if not isinstance(found := vars(after).get(node.attr), types.FunctionType):
        return None
    facts.module.methods.append((after, node.attr, found, None))
    self = gast.Name(own, gast.Load(), None, None)
    return Function(node.attr, binding=Binding("object", found), args=(self,), whole=whole)


def _function_of_partial(node: Node, facts: Facts, local: frozenset[str]) -> Function | None:
    """`functools.partial(g, a, k=b)`, of names and constants."""
    maker = binding_of(node.func, facts, local)
    if maker is None or maker.object is not functools.partial or not node.args:
        return None
    inner = function_of(node.args[0], facts, local)
    given = [*node.args[1:], *(w.value for w in node.keywords)]
    if inner is None or not all(isinstance(item, gast.Name | gast.Constant) for item in given):
        return None
    words = inner.words | {str(w.arg): w.value for w in node.keywords}
    return Function(inner.name, inner.tree, inner.owner, inner.binding, (*inner.args, *node.args[1:]), words)


def _derivative(node: Node, facts: Facts, local: frozenset[str]) -> Function | None:
    """`grad(g)`, `hvp(g, wrt=1)`, `transpose(push)`: a derivative that is a function."""
    mode = made_by(node, facts, local)
    if mode == "transpose" and len(node.args) == 1:
        linear = function_of(node.args[0], facts, local)
        turned = {"push": "pull", "pull": "push"}.get("" if linear is None or not linear.wanted else linear.wanted.mode)
        if linear is None or linear.wanted is None or turned is None:
            return None
        return replace(linear, wanted=replace(linear.wanted, mode=turned))
    if mode not in MAKERS or not node.args:
        return None
    of = function_of(node.args[0], facts, local)
    return None if of is None else Function(f"{of.name}_{mode}", wanted=wanted_of(node, mode, of, facts))


def pulled_or_pushed(call: Node, facts: Facts, local: frozenset[str]) -> Function | None:
    """The pullback of `vjp(g, x)`, the linear map of `linearize(g, x)`; None for any other expression."""
    mode = {"vjp": "pull", "linearize": "push"}.get(made_by(call, facts, local))
    if mode is None or not call.args:
        return None
    of = function_of(call.args[0], facts, local)
    if of is None:
        return None
    wanted = wanted_of(call, "vjp", of, facts)
    return Function("pullback", wanted=replace(wanted, mode=mode), args=tuple(call.args[1:]))


def _pullback(node: Node, facts: Facts, local: frozenset[str]) -> Function | None:
    """`vjp(g, x)[1]`"""
    if not isinstance(node.slice, gast.Constant) or node.slice.value != 1:
        return None
    return pulled_or_pushed(node.value, facts, local)


def is_ordinary(function: Function) -> bool:
    """Whether a call of the function is one that the rest of the pipeline knows: of a global name, as it is."""
    return function.tree is None and function.wanted is None and not function.args and not function.words

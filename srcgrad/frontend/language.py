"""The accepted language: statements, operands and calls; what is not listed is refused, with the place and a way out.

Every name that a function reads means something: its own, its module's, or Python's. In an operation stands no display
where NumPy wants an array, and no object with arithmetic of its own.

Calls that change something and give nothing, `a.sort()`, `np.copyto(a, e)`, are followed where they stand alone. Bound
to a name that nothing reads, `t = a.sort()`, such a call would be dropped with the name. A call after which a call
gives something else, `next(items)`, `generator.normal()`, a counter, stays though nothing reads what it binds.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import operator
import re
import types
from collections.abc import Container

import gast
import numpy as np

import srcgrad.templates as templates
from srcgrad.core.bindings import StaticModule, binding_of_text
from srcgrad.core.errors import DifferentiationError, near_names
from srcgrad.core.facts import UNKNOWN, Facts, Kind, Operation, Request, inner_kinds
from srcgrad.core.identity import home
from srcgrad.core.marks import is_opaque
from srcgrad.core.rules import rule_of
from srcgrad.core.target import RESERVED
from srcgrad.core.trees import (
    Block,
    Node,
    at,
    find_nodes,
    header,
    literal_value,
    loads,
    own_names,
    parameters,
    root,
    statements,
    stores,
    target,
    walk,
)
from srcgrad.core.visitor import rewrite_statements
from srcgrad.frontend.calls.side_effects import makers_of, places_filled
from srcgrad.frontend.context import TAKES, Scope
from srcgrad.frontend.kinds_of_values import NOTHING, is_instance, live_object
from srcgrad.frontend.resolve import attribute_held, binding_of, object_of, operation_of
from srcgrad.runtime import add_at, fields_of


def check_names(function: Node, facts: Facts) -> Node:
    """Refuse a name that nothing binds, before anything is derived from it."""
    known = facts.names.local | {
        n.id for s in function.body for n in find_nodes(s, gast.Name) if isinstance(n.ctx, gast.Param)
    }
    for statement in function.body:
        for item in walk(statement):
            if isinstance(item, gast.Name) and isinstance(item.ctx, gast.Load) and item.id not in known:
                if facts.namespace.lookup(item.id) is None:
                    near = near_names(item.id, facts.names.local)
                    remedy = f"import or define `{item.id}` in the module of {facts.source.name}"
                    what = f"nothing binds the name `{item.id}`"
                    raise facts.refuse(item, "E5012", what, f"{near} Else {remedy}" if near else remedy)
    return function


_TEXT_MAKERS = (str, repr, format, ascii, np.array2string, np.array_str, np.array_repr)
_READERS = (float, complex, np.float16, np.float32, np.float64, np.complex128, np.fromstring, np.loadtxt, np.genfromtxt)


def check_texts(function: Node, facts: Facts) -> None:
    """Refuse a number that is read from what `str`, `repr` or an f-string made, at once or by way of a name."""
    if not any(_makes(node, facts) for part in function.body for node in find_nodes(part, gast.JoinedStr, gast.Call)):
        return
    nodes = [node for statement in function.body for node in walk(statement)]
    known: set[str] = set()
    while True:
        bound = {name for node in nodes if isinstance(node, gast.Assign) and _has(node.value, known, facts)
                 for name in stores(node)}  # fmt: skip
        if bound <= known:
            break
        known |= bound
    for node in nodes:
        if isinstance(node, gast.Call) and _is_one(node.func, _READERS, facts):
            if any(_has(argument, known, facts) for argument in node.args):
                raise facts.refuse(
                    node,
                    "E5005",
                    "a number is read from a text that was made here",
                    "use the number itself and not its text",
                )


def _makes(node: Node, facts: Facts) -> bool:
    return isinstance(node, gast.JoinedStr) or (isinstance(node, gast.Call) and _is_one(node.func, _TEXT_MAKERS, facts))


def _has(value: Node, known: set[str], facts: Facts) -> bool:
    """Whether an expression holds such a text."""
    return any(_makes(node, facts) or getattr(node, "id", "") in known for node in walk(value))


def _is_one(function: Node, wanted: tuple[object, ...], facts: Facts) -> bool:
    found = binding_of(function, facts, facts.names.local)
    return found is not None and any(found.object is one for one in wanted)


_STATEMENTS = (
    gast.Assign,
    gast.AugAssign,
    gast.AnnAssign,
    gast.If,
    gast.For,
    gast.While,
    gast.Return,
    gast.Assert,
    gast.Raise,
    gast.Expr,
    gast.Pass,
    gast.Break,
    gast.Continue,
)
_EXPRESSIONS = (
    gast.Name,
    gast.Constant,
    gast.BinOp,
    gast.UnaryOp,
    gast.BoolOp,
    gast.Compare,
    gast.IfExp,
    gast.Call,
    gast.Attribute,
    gast.Subscript,
    gast.Slice,
    gast.Tuple,
    gast.List,
    gast.Dict,
    gast.JoinedStr,
    gast.FormattedValue,
    gast.keyword,
)
_ACCEPTED = {gast.Name, gast.Constant, gast.BinOp, gast.UnaryOp, gast.Attribute, gast.Subscript, gast.Tuple, gast.Slice}
_PLAIN = (gast.arguments, gast.expr_context, gast.operator, gast.unaryop, gast.boolop, gast.cmpop)

_REMEDIES: dict[type, tuple[str, str]] = {
    gast.Try: ("`try`", "test the condition with `if` before the operation"),
    gast.With: ("`with`", "enter it around the call of the gradient, and pass what it gives as an argument"),
    gast.Delete: ("`del`", "make a container without it"),
    gast.Global: ("writing a global", "pass the value as an argument and return it"),
    gast.Nonlocal: ("writing a nonlocal name", "pass the value as an argument and return it"),
    gast.Lambda: ("a lambda inside the function", "define a function at module level and call it"),
    gast.FunctionDef: ("a nested function", "define the function at module level and call it"),
    gast.ClassDef: ("a class inside the function", "define it outside"),
    gast.ListComp: ("this list comprehension", "write the loop out, or use one array operation"),
    gast.SetComp: ("a set", "use a list: `[...]`"),
    gast.DictComp: ("this dict comprehension", "write the loop out: `d = {}`, then `d[k] = ...` in a `for`"),
    gast.GeneratorExp: ("a generator expression", "write the loop out, or use one array operation"),
    gast.Yield: ("a generator", "return an array of the values"),
    gast.YieldFrom: ("a generator", "return an array of the values"),
    gast.Await: ("`await`", "differentiate the synchronous part of the computation"),
    gast.AsyncFunctionDef: ("`async`", "differentiate the synchronous part of the computation"),
    gast.AsyncFor: ("`async for`", "differentiate the synchronous part of the computation"),
    gast.NamedExpr: ("`:=`", "assign in a statement of its own"),
    gast.Starred: ("unpacking with `*`", "name the parts one by one"),
    gast.Set: ("a set", "use a list: `[...]`"),
    gast.Import: ("an import inside the function", "import at the top of the module"),
    gast.ImportFrom: ("an import inside the function", "import at the top of the module"),
}


def check_language(function: Node, facts: Facts) -> Node:
    """Refuse what is outside the accepted Python; the tree is returned as it is.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> explain_text("def f(x):\\n    del x[0]\\n    return 1.0", after="check_language")
    Traceback (most recent call last):
    ...
    srcgrad.core.errors.DifferentiationError: E5005 Python outside the subset: `del` is not accepted
      at <stdin>:2:5
              del x[0]
              ^^^^^^^^
      what to do: make a container without it
    """
    if isinstance(function, gast.AsyncFunctionDef):
        raise _refusal(facts, function)
    arguments = function.args
    if arguments.vararg or arguments.kwarg:
        raise facts.refuse(
            arguments.vararg or arguments.kwarg,
            "E5005",
            "`*args` and `**kwargs` are not accepted in a differentiated function",
            "name the parameters",
        )
    _check_shadows(function, facts)
    _check_digits(function, facts)
    tried = _on_trial(function, facts)
    for statement in function.body:
        for node in walk(statement):
            if type(node) not in _ACCEPTED and id(node) not in tried:
                _check(node, facts)
    check_texts(function, facts)
    _check_returns(function, facts)
    return function


def _on_trial(function: Node, facts: Facts) -> set[int]:
    """Nodes of the bodies of `try` that are run on trial: Python itself runs them, and no derivative goes through."""
    inner = [n for s in function.body for n in find_nodes(s, gast.Lambda)] if facts.request.generated else []
    return {id(n) for held in (*facts.origin.lambdas, *inner) if not held.args.args for n in walk(held.body)}


def _check_shadows(function: Node, facts: Facts) -> None:
    """Generated text calls a few of Python's own functions by name."""
    reserved = () if facts.module is None else facts.module.target.reserved
    for name in (*RESERVED, *reserved):
        found = facts.namespace.lookup(name)
        if name in facts.names.local or found is None or found.object is not getattr(builtins, name):
            raise facts.refuse(
                function, "E5005", f"the name `{name}` is bound to something else", f"call it `{name}_`, or otherwise"
            )


def _check_digits(function: Node, facts: Facts) -> None:
    """Python itself writes no integer of more digits than `sys.get_int_max_str_digits()` gives."""
    for node in walk(function):
        if isinstance(node, gast.Constant) and type(node.value) is int:
            try:
                str(node.value)
            except ValueError:
                what = "an integer of this many digits has no text"
                raise facts.refuse(node, "E5005", what, "bind it to a name outside of the function") from None


def _check(node: Node, facts: Facts) -> None:
    if (
        isinstance(node, _PLAIN)
        or node in facts.origin.lambdas
        or (facts.request.generated and isinstance(node, gast.Lambda))
    ):
        return  # a lambda that stands inside is a hook's
    if isinstance(node, gast.Starred) and (facts.request.generated or _is_shape(node.value, facts)):
        return
    if isinstance(node, gast.Try) and not node.handlers:
        what = "`try` with `finally` is not accepted"
        raise facts.refuse(node, "E5005", what, "put it around the call of the gradient, in a function of its own")
    if not isinstance(node, _STATEMENTS + _EXPRESSIONS):
        raise _refusal(facts, node)
    if isinstance(node, gast.Assign | gast.AugAssign | gast.AnnAssign | gast.For):
        for target in node.targets if isinstance(node, gast.Assign) else [node.target]:
            _check_target(target, node, facts)
    called = getattr(node.func, "id", "") if isinstance(node, gast.Call) else ""
    if called in _UNSEEN and not (called == "dir" and node.args) and _is_unseen(called, facts):
        what = f"`{called}` is not accepted: what it reads cannot be seen"
        raise facts.refuse(node, "E5005", what, "write the expression itself, or name the variable")
    if isinstance(node, gast.Expr) and isinstance(node.value, gast.Yield | gast.YieldFrom):
        raise _refusal(facts, node.value)
    if isinstance(node, gast.Expr) and not isinstance(node.value, gast.Call | gast.Constant):
        raise facts.refuse(node, "E5005", "an expression without effect is not accepted", "remove it, or use its value")


def _is_shape(node: Node, facts: Facts) -> bool:
    """Whether an expression is a shape, or a part of one, for sure: lengths, which no derivative goes through."""
    if isinstance(node, gast.Subscript) and isinstance(node.slice, gast.Slice):
        return _is_shape(node.value, facts)
    if isinstance(node, gast.Call) and len(node.args) == 1 and not node.keywords:
        found = binding_of(node.func, facts, facts.names.local)
        return found is not None and found.object is np.shape
    return isinstance(node, gast.Attribute) and node.attr == "shape"


_UNSEEN = {"eval": eval, "exec": exec, "locals": locals, "vars": vars, "globals": globals, "dir": dir}


def _is_unseen(name: str, facts: Facts) -> bool:
    """Whether a name is Python's own function that reads variables by their names."""
    found = facts.namespace.lookup(name)
    return name not in facts.names.local and found is not None and found.object is _UNSEEN[name]


def _check_target(target: Node, statement: Node, facts: Facts) -> None:
    if (
        facts.request.generated
        and isinstance(statement, gast.AugAssign)
        and isinstance(statement.op, gast.Add | gast.Sub)
    ):
        return  # an element of an adjoint that our own text made
    if isinstance(target, gast.Tuple | gast.List):
        for item in target.elts:
            _check_target(item, statement, facts)
    elif isinstance(target, gast.Subscript):
        if root(target) is None:
            raise facts.refuse(
                target,
                "E5010",
                "a write into a part of a part is not accepted",
                "write into the array itself, with one index: `a[i, j] = e`",
            )
    elif isinstance(target, gast.Attribute):
        remedy = f"return the new value, or keep it in a dict: `state[{target.attr!r}] = ...`"
        raise facts.refuse(target, "E5005", "assignment to an attribute is not accepted", remedy)
    elif isinstance(target, gast.Starred):
        raise _refusal(facts, target)


def _check_returns(function: Node, facts: Facts) -> None:
    """Something is returned."""
    returns = [n for s in function.body for n in find_nodes(s, gast.Return)]
    last = function.body[-1]
    only = returns[0] if len(returns) == 1 else None
    nothing = only is not None and (only.value is None or getattr(only.value, "value", 0) is None)
    if not returns or nothing:
        bound = target(last)
        remedy = f"end it with `return {bound}`" if bound else "return the value to differentiate: `return ...`"
        raise facts.refuse(last, "E5005", "the function returns nothing", remedy)


def _refusal(facts: Facts, node: Node) -> Exception:
    what, remedy = _REMEDIES.get(type(node), ("this statement", "rewrite it with assignments, `if`, `for` and `while`"))
    return facts.refuse(node, "E5005", f"{what} is not accepted", remedy)


_CHANGING = {"append", "extend", "insert", "pop", "sort", "reverse", "clear", "remove", "update"}  # followed by name
_READING = {name for kind in (np.ndarray, str, tuple, range, float) for name in dir(kind)}
_READING |= {"keys", "values", "items", "get", "copy"}
_NEW = gast.List | gast.Dict | gast.Set | gast.ListComp | gast.DictComp | gast.SetComp


def local_names(function: Node) -> frozenset[str]:
    """The parameters of a function, and what its statements bind."""
    return frozenset(parameters(function)) | {s for n in statements(function.body) for s in stores(n)}


def note_moving(function: Node, facts: Facts) -> None:
    """Note the statements that hold calls after which another call may give something else."""
    local = local_names(function)
    for node in statements(function.body):
        if any(moves(item, facts, local) for part in header(node) for item in find_nodes(part, gast.Call)):
            facts.resolution.moving[node] = None


def moves(call: Node, facts: Facts, local: frozenset[str], met: dict[int, None] | None = None) -> bool:
    """Whether an expression is such a call: a method of an object of which nothing is known is one."""
    if not isinstance(call, gast.Call):
        return False
    found = binding_of(call.func, facts, local)
    if found is None:
        if isinstance(call.func, gast.Attribute):
            own = _own_method(call.func, facts, local)
            return _is_method(call.func, facts) if own is None else _has_effects(own, facts, met)
        return (
            not facts.request.generated and getattr(call.func, "id", "") not in facts.names.functions
        )  # of which nothing is known
    if found.kind in ("value", "unknown"):
        return True
    called = found.static or getattr(found.object, "__srcgrad_primal__", found.object)
    called = called.__func__ if isinstance(called, types.MethodType) else called
    if isinstance(called, type) and (called is super or makers_of(called)):
        return called is not super and _makes_with_effects(called, facts, met)
    if found.static is None and not isinstance(called, types.FunctionType):
        owner = getattr(called, "__self__", None)
        _, of, method = str(getattr(called, "__qualname__", "")).rpartition(".")  # `RandomState.normal`, of its class
        bound = owner is not None and not isinstance(owner, types.ModuleType | type | np.ufunc)
        return called is next or bound or (bool(of) and method not in _READING and rule_of(called) is None)
    templates.load_for(home(called) or "")
    return rule_of(called) is None and not is_opaque(called) and _has_effects(called, facts, met)


def _makes_with_effects(owner: type, facts: Facts, met: dict[int, None] | None) -> bool:
    """Whether an object of a class of the user's is made by what draws, or changes more than the new object."""
    return any(_has_effects(one, facts, met, owner) for one in makers_of(owner))


def _own_method(function: Node, facts: Facts, local: frozenset[str]) -> types.FunctionType | None:
    """The function that a method of an object of the module is, whatever it is called."""
    held = live_object(function.value, facts.namespace, local, None)
    if held is NOTHING or not is_instance(held):
        return None
    found = inspect.getattr_static(held, function.attr, None)
    found = found.__func__ if isinstance(found, staticmethod | classmethod) else found
    return found if isinstance(found, types.FunctionType) else None


def _is_method(function: Node, facts: Facts) -> bool:
    """Whether a method may change its object, which is not one whose changes are followed by its name."""
    held = facts.kinds.of_expressions.get(function.value) or facts.kinds.named.get(
        getattr(function.value, "id", ""), UNKNOWN
    )
    if function.attr in _READING and held.tag not in ("object", "made"):
        return False
    followed = facts.request.generated or facts.list_kind(getattr(function.value, "id", ""))
    return not (followed and function.attr in _CHANGING)


def _has_effects(function: object, facts: Facts, met: dict[int, None] | None, owner: type | None = None) -> bool:
    """Whether a function with a source makes such a call, or changes what is not its own.

    Its own is what it makes, of an `owner` the new object that is its first parameter. `met` are the functions on the
    way from the first one that was asked for. If that makes no such call, none does.
    """
    try:
        source, namespace = facts.module.source(function)
    except DifferentiationError:
        return False  # refused where a derivative flows through it
    if owner is not None and source.library:
        return False
    key = id(source.tree if owner is None else source.tree.args)
    known: dict[int, bool] = facts.module.moving
    first, met = met is None, {} if met is None else met
    if key in met or key in known:
        return known.get(key, False)
    met[key] = None
    inner = Facts(source, namespace, Request(facts.request.mode, ()), facts.module)
    bound = own_names(source.tree)
    inner.kinds.lists = dict.fromkeys(_made_here(source.tree), "list")
    nodes = [node for each in _body(source.tree) for node in walk(each)]
    if owner is not None:
        nodes, methods = _apart_from_new(nodes, source.tree, owner)
        if any(_has_effects(one, facts, met, owner) for one in methods):
            known[key] = True
            return True
    within = {node.name for node in nodes if isinstance(node, gast.FunctionDef)}  # their bodies are among the nodes
    within -= {node.id for node in nodes if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store)}
    outer = [node for node in nodes if getattr(getattr(node, "func", None), "id", "") not in within]
    found = any(_stores_outside(node, source.tree, bound) for node in nodes)
    found = found or any(moves(node, inner, bound, met) for node in outer)
    if found:
        known[key] = True
    elif first:
        known.update(dict.fromkeys(met, False))
    return found


def _body(tree: Node) -> Block:
    return tree.body if isinstance(tree.body, list) else [tree.body]  # of a lambda


def _apart_from_new(nodes: list[Node], tree: Node, owner: type) -> tuple[list[Node], list[types.FunctionType]]:
    """Nodes but for what is stored in a new object, and for calls of its methods, which are given beside."""
    new = dict.fromkeys(parameters(tree)[:1])
    others, methods = [], []
    for node in nodes:
        attribute = node.func if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) else None
        own = attribute is not None and getattr(attribute.value, "id", "") in new
        method = inspect.getattr_static(owner, attribute.attr, None) if own and attribute is not None else None
        stored = isinstance(getattr(node, "ctx", None), gast.Store) and getattr(root(node), "id", "") in new
        if isinstance(method, types.FunctionType):
            methods.append(method)
        elif not stored:
            others.append(node)
    return others, methods


def _made_here(function: Node) -> list[str]:
    """Names that hold nothing but lists and dicts which the function makes."""
    made: dict[str, bool] = {}
    for node in statements(function.body):
        bound = target(node)
        if bound is not None:
            made[bound] = made.get(bound, True) and isinstance(node.value, _NEW)
    return [name for name, new in made.items() if new]


def _stores_outside(node: Node, function: Node, bound: frozenset[str]) -> bool:
    """Whether a part of a function stores into what it has not made: a global, a field of an argument."""
    if isinstance(node, gast.Global | gast.Nonlocal):
        return True
    if not isinstance(node, gast.Attribute | gast.Subscript) or not isinstance(node.ctx, gast.Store):
        return False
    base = root(node)
    given = isinstance(node, gast.Attribute) and base is not None and base.id in parameters(function)
    return base is None or base.id not in bound or given


TAKE_SEVERAL = (
    "arrays",
    "tup",
    "choices",
    "choicelist",
    "c_and_lower",
    "c_or_cr",
    "lu_and_piv",
    "args",
    "t_span",
)  # that take several arrays
TAKE_ITEMS = (dict.get, np.array, np.asarray, operator.getitem)
_ARITHMETIC = ("__mul__", "__rmul__", "__add__", "__matmul__", "__getitem__")
_NUMBERS = (int, float, complex, np.generic)


def is_sequence(value: Node, scope: Scope) -> bool:
    """Whether an operand is a list or a tuple: a display, or one that the module has."""
    if isinstance(value, gast.Tuple | gast.List):
        return True
    text = _text(value, scope)
    return isinstance(object_of(value, scope.facts, scope.local), list | tuple) or isinstance(
        text, ast.Tuple | ast.List
    )


def wants_arrays(operation: Operation, parameter: str) -> bool:
    """Whether an op makes an array of what it is given."""
    if operation.function is add_at:
        return True
    module = str(getattr(operation.function, "__module__", "numpy"))
    theirs = isinstance(operation.function, np.ufunc) or module.partition(".")[0] in ("numpy", "scipy", "_operator")
    return theirs and parameter not in TAKE_SEVERAL and operation.function not in TAKE_ITEMS


def check_operands(value: Node, operation: Operation, places: Container[str], scope: Scope) -> None:
    """Refuse what has arithmetic of its own, and `+` and `*` of displays, which join and repeat lists."""
    if operation.rule is not None and operation.rule.own is not None:
        return  # a function of the user takes what it takes
    for parameter, operand in operation.bound.items():
        joins = isinstance(value, gast.BinOp) and isinstance(value.op, gast.Add | gast.Mult)
        if joins and is_sequence(operand, scope):
            raise scope.facts.refuse(
                value,
                "E5005",
                "`+` or `*` of a list or a tuple",
                "make an array of it: `np.array([...])`, or append to it",
            )
        if parameter in places and (what := _odd(operand, parameter, operation, scope)):
            raise scope.facts.refuse(
                operand,
                "E5017",
                f"`{gast.unparse(operand)}` is {what}, whose arithmetic is its own",
                "use numbers and plain arrays: `np.asarray(...)`",
            )


def check_method(value: Node, operation: Operation, places: Container[str], scope: Scope) -> None:
    """Refuse a method that is named like an array's and gets what no array's method takes: `model.mean(x)`."""
    held = value.func.value if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) else None
    if held is None or scope.may_vary(held) or binding_of(value.func, scope.facts, scope.local) is not None:
        return
    for parameter, argument in operation.bound.items():
        if argument is not held and parameter not in places and scope.may_vary(argument):
            raise scope.facts.refuse(
                value,
                "E5003",
                f"`{gast.unparse(held)}` is not known to be an array, and `.{value.func.attr}()` gets "
                f"`{gast.unparse(argument)}`, which no array's method would differentiate",
                "call a function, or annotate what is known only when it runs",
            )


def _odd(operand: Node, parameter: str, operation: Operation, scope: Scope) -> str:
    """What an operand is, if it is neither a number nor an array, nor a container where one may stand."""
    held = operand.id if isinstance(operand, gast.Name) else ""
    if operation.function is fields_of or str(getattr(operation.function, "__module__", "")).startswith(
        "scipy.sparse."
    ):
        return ""
    kind = scope.facts.kinds.of_names.get(held) if (opened := inner_kinds(scope.facts.kinds.of_names)) else None
    if opened and kind is None and isinstance(operation.function, np.ufunc) and operation.function is not np.matmul:
        kind = _kind(operand, scope, set())
        kind = kind if kind is not None and _multiplies(kind) else None
    if kind is not None and kind.tag in ("other", "object") and not scope.facts.list_kind(held):
        return "an object" if kind.tag == "other" else str(kind.items[0][0].__name__)
    local = scope.facts.kinds.named.get(held) if isinstance(operation.function, np.ufunc) else None
    if kind is None and local is not None and local.tag in ("object", "made") and hasattr(local.items[0][0], "__mul__"):
        return str(local.items[0][0].__name__)
    found = object_of(operand, scope.facts, scope.local)
    text = _text(operand, scope)
    if isinstance(text, ast.Call) and (maker := _maker(text, _module_of(operand, scope))):
        return f"made by `{maker}`"
    if found is None and isinstance(operation.function, np.ufunc):
        found = attribute_held(operand, lambda part: binding_of(part, scope.facts, scope.local))
        found = found if hasattr(type(found), "__mul__") and not isinstance(found, np.memmap) else None
    return "" if _is_plain(found, parameter, operation) else f"of type {type(found).__qualname__}"


def _kind(operand: Node, scope: Scope, seen: set[str]) -> Kind | None:
    """What is known of `p`, `p.m`, `p["m"]`, and of a name that stands for one of these."""
    if isinstance(operand, gast.Name):
        if operand.id in scope.facts.kinds.of_names:
            return scope.facts.kinds.of_names[operand.id]
        if operand.id in seen:
            return None  # `a = a.T`
        seen.add(operand.id)
        bound = [n for n in statements(scope.facts.source.tree.body) if target(n) == operand.id]
        shown = [n.value for n in bound if isinstance(n.value, gast.Attribute | gast.Subscript)]
        return next((kind for value in shown if (kind := _kind(value, scope, seen)) is not None), None)
    if not isinstance(operand, gast.Attribute | gast.Subscript):
        return None
    whole = _kind(operand.value, scope, seen)
    if whole is None:
        return None
    if isinstance(operand, gast.Attribute):
        return dict(whole.items[1:]).get(operand.attr) if whole.tag == "object" else None
    try:
        return dict(whole.items).get(literal_value(operand.slice))
    except (ValueError, TypeError):
        return next((kind for _, kind in whole.items if _multiplies(kind)), None)  # any of the items


def _multiplies(kind: Kind) -> bool:
    """Whether a kind is that of a class with a product of its own."""
    return kind.tag == "object" and hasattr(kind.items[0][0], "__mul__")


def _is_plain(found: object, parameter: str, operation: Operation) -> bool:
    if found is None or type(found) is np.ndarray or isinstance(found, (*_NUMBERS, list, tuple)):
        return True
    ours = not wants_arrays(operation, parameter) and operation.function is not operator.getitem
    computes = any(hasattr(type(found), method) for method in _ARITHMETIC)
    return ours or isinstance(found, dict | str | slice | type | np.dtype) or (callable(found) and not computes)


_OWN = re.compile(r"\b(ma|mat|matrix|sparse|chararray|recarray)\b|^[A-Z]|\.[A-Z]")  # makers of what is no plain array


def _module_of(value: Node, scope: Scope) -> StaticModule | None:
    found = binding_of(value, scope.facts, scope.local)
    return None if found is None else found.module


def _maker(text: ast.Call, module: StaticModule | None, seen: frozenset[str] = frozenset()) -> str:
    """What has made a value that is no plain array; empty where it is one, as what `W.copy()` makes of one is."""
    root = text.func
    while isinstance(root, ast.Attribute):
        root = root.value
    held = binding_of_text(root, module) if module is not None else None
    if module is None or held is None or held.kind != "value" or not isinstance(root, ast.Name):
        return ast.unparse(text.func) if _OWN.search(ast.unparse(text.func)) else ""
    assigned = [one for one in module.tree.body if isinstance(one, ast.Assign)]
    made = [one.value for one in assigned if any(getattr(part, "id", "") == root.id for part in one.targets)]
    calls = [one for one in made if isinstance(one, ast.Call) and root.id not in seen]
    return next((maker for one in calls if (maker := _maker(one, module, seen | {root.id}))), "")


def _text(value: Node, scope: Scope) -> ast.expr | None:
    """What a name of a module that does not run is bound to, as a tree."""
    found = binding_of(value, scope.facts, scope.local) if isinstance(value, gast.Name | gast.Attribute) else None
    if found is None or found.kind != "value":
        return None
    if found.expression is not None:
        return ast.parse(found.expression, mode="eval").body
    body = found.module.tree.body if found.module is not None and isinstance(value, gast.Name) else []
    bound = [one.value for one in body if isinstance(one, ast.Assign) and value.id in map(_spelled, one.targets)]
    return bound[0] if len(bound) == 1 else None  # a value that other statements may change


def _spelled(place: ast.expr) -> str:
    return place.id if isinstance(place, ast.Name) else ""


def check_passive(value: Node, scope: Scope) -> None:
    """Refuse an expression through which a derivative would flow unseen."""
    if isinstance(value, gast.Compare | gast.UnaryOp | gast.Attribute | gast.JoinedStr | gast.Call):
        return
    raise scope.facts.refuse(
        value, "E5003", f"`{gast.unparse(value)}` has no rule", "compute it in statements of its own"
    )


def check_silent(function: Node, facts: Facts) -> None:
    """Refuse such calls inside of expressions, and what an operation without a derivative stores by `out=`.

    A call that may change the object it is of stands alone, where nothing reads what it gives.
    """
    local = local_names(function)
    for node in statements(function.body):
        alone = node.value if isinstance(node, gast.Expr) else None
        inside = [item for part in header(node) for item in walk(part)]
        hooks = {id(item) for each in inside if isinstance(each, gast.Lambda) for item in walk(each.body)}
        for item in [item for item in inside if isinstance(item, gast.Call) and id(item) not in hooks]:
            if item is not alone and changes(item, facts, local):
                what = f"`{gast.unparse(item.func)}` changes an object inside of an expression"
                own = isinstance(item.func, gast.Attribute) and not hasattr(np.ndarray, item.func.attr)
                remedy = "let it return what it changes, and bind that" if own else "call it in a statement of its own"
                raise facts.refuse(item, "E5010", what, f"{remedy}, or write `a[...] = ...`")
    _keep_draws(function, local, facts)


def changes(call: Node, facts: Facts, local: frozenset[str]) -> bool:
    """Whether a call changes what it is called on, or one of its arguments, and gives nothing of that."""
    if getattr(call.func, "attr", "") in TAKES:
        return False
    return bool(places_filled(call, facts, local, alone=False)) and not _is_callee(call, facts, local)


def _is_callee(call: Node, facts: Facts, local: frozenset[str]) -> bool:
    """Whether a method is the user's own, which has a source."""
    operation = operation_of(call, facts, local)
    return operation is not None and operation.kind == "callee"


def _keep_draws(function: Node, local: frozenset[str], facts: Facts) -> None:
    read = {name for node in statements(function.body) for name in loads(node)}

    def kept(node: Node) -> Block:
        bound = target(node)
        if bound is None or bound in read:
            return [node]
        whole = moves(node.value, facts, local)
        of_object = isinstance(node.value, gast.Dict) and not whole  # that is taken apart
        calls = [one for one in find_nodes(node.value, gast.Call) if of_object and moves(one, facts, local)]
        made: Block = [at(gast.Expr(one), node) for one in ([node.value] if whole else calls)]
        facts.resolution.effects.update(dict.fromkeys(made))
        return made or [node]

    function.body = rewrite_statements(function.body, kept)

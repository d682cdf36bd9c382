"""The accepted language: what is not listed is refused.

Every name that a function reads means something: its own, its module's, or Python's.

Functions that write into arrays and ask for derivatives: which writes can be followed where texts of ours stand
among the user's statements, in which views and arguments are not looked at anew.

Numbers that are read from a text of a number: `float(str(x))` is x, and its derivative would be lost.

What Python is accepted: everything not listed here is refused, with the place and a way out.
"""

from __future__ import annotations

import builtins

import gast
import numpy as np

from srcgrad.core.facts import Facts
from srcgrad.core.trees import Node, find_nodes, header, is_write, root, statements, stores, target, walk, written_names
from srcgrad.frontend.resolve import binding_of


def check_names(function: Node, facts: Facts) -> Node:
    """Refuse a name that nothing binds, before anything is derived from it."""
    for statement in function.body:
        for item in walk(statement):
            if isinstance(item, gast.Name) and isinstance(item.ctx, gast.Load) and item.id not in facts.local:
                if facts.namespace.lookup(item.id) is None:
                    raise facts.refuse(
                        item,
                        "E5012",
                        f"nothing binds the name `{item.id}`",
                        f"import or define `{item.id}` in the module of {facts.source.name}",
                    )
    return function


_MAKERS = ("zeros", "ones", "empty", "zeros_like", "ones_like", "empty_like")


def doubtful_write(tree: Node) -> Node | None:
    """The first write of a function into an array that something else may show; None if there is none.

    Safe are arrays that the function makes by `np.zeros` and the like, and that have no second name while they
    are written into.

    >>> text = "def f(x):\\n    a = np.zeros(2)\\n    a[0] = x\\n    b = a[1:]\\n    return b\\n"
    >>> doubtful_write(gast.parse(text).body[0]) is None
    True
    """
    writes = [(place, n) for place, top in enumerate(tree.body) for n in statements([top]) if _writes(n)]
    for place, node in writes:
        for name in _writes(node):
            if not _is_made(name, tree) or _has_second_name(name, place, tree):
                return node
    return None


def _writes(node: Node) -> list[str]:
    """Names of arrays into which a statement writes, as a part of its target as well: `a[0], b[0] = e`."""
    if is_write(node):
        return written_names(node)
    places = [part for one in getattr(node, "targets", []) for part in find_nodes(one, gast.Subscript)]
    bases = [root(part) for part in places if isinstance(part.ctx, gast.Store)]
    return [base.id for base in bases if base is not None]


def _is_made(name: str, tree: Node) -> bool:
    """Whether nothing but new arrays is bound to a name."""
    parameters = [a.id for a in [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]]
    bound = [n for n in statements(tree.body) if target(n) == name]
    others = [n for n in statements(tree.body) if target(n) != name and not _writes(n) and name in _bound_by(n)]
    made = all(isinstance(n.value, gast.Call) and getattr(n.value.func, "attr", "") in _MAKERS for n in bound)
    return bool(bound) and made and not others and name not in parameters


def _bound_by(node: Node) -> list[str]:
    names = [n for part in header(node) for n in walk(part) if isinstance(n, gast.Name)]
    return [n.id for n in names if not isinstance(n.ctx, gast.Load)]


def _has_second_name(name: str, last: int, tree: Node) -> bool:
    """Whether something else than arithmetic reads an array by its name before the last place that writes into it."""
    for top in tree.body[: last + 1]:
        for node in statements([top]):
            if isinstance(node, gast.FunctionDef) and any(getattr(n, "id", "") == name for n in walk(node)):
                return True
            if _writes(node):
                continue
            value = getattr(node, "value", None) or getattr(node, "iter", None)
            if value is not None and not isinstance(value, gast.BinOp | gast.Compare) and _shows(value, name):
                return True
    return False


def _shows(value: Node, name: str) -> bool:
    return any(isinstance(n, gast.Name) and n.id == name for n in walk(value))


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
                    "use the number itself: `float(x)`",
                )


def _makes(node: Node, facts: Facts) -> bool:
    return isinstance(node, gast.JoinedStr) or (isinstance(node, gast.Call) and _is_one(node.func, _TEXT_MAKERS, facts))


def _has(value: Node, known: set[str], facts: Facts) -> bool:
    """Whether an expression holds such a text."""
    return any(_makes(node, facts) or getattr(node, "id", "") in known for node in walk(value))


def _is_one(function: Node, wanted: tuple[object, ...], facts: Facts) -> bool:
    found = binding_of(function, facts, facts.local)
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
    gast.With: ("`with`", "enter the context around the call of the gradient"),
    gast.Delete: ("`del`", "make a container without it"),
    gast.Global: ("writing a global", "pass the value as an argument and return it"),
    gast.Nonlocal: ("writing a nonlocal name", "pass the value as an argument and return it"),
    gast.Lambda: ("a lambda inside the function", "define a function at module level and call it"),
    gast.FunctionDef: ("a nested function", "define the function at module level and call it"),
    gast.ClassDef: ("a class inside the function", "define it outside"),
    gast.ListComp: ("a comprehension", "write the loop out, or use one array operation"),
    gast.SetComp: ("a comprehension", "write the loop out, or use one array operation"),
    gast.DictComp: ("a comprehension", "write the loop out, or use one array operation"),
    gast.GeneratorExp: ("a generator expression", "write the loop out, or use one array operation"),
    gast.Yield: ("a generator", "return an array of the values"),
    gast.YieldFrom: ("a generator", "return an array of the values"),
    gast.Await: ("`await`", "differentiate the synchronous part of the computation"),
    gast.AsyncFunctionDef: ("`async`", "differentiate the synchronous part of the computation"),
    gast.AsyncFor: ("`async for`", "differentiate the synchronous part of the computation"),
    gast.NamedExpr: ("`:=`", "assign in a statement of its own"),
    gast.Starred: ("unpacking with `*`", "name the parts one by one"),
    gast.Set: ("a set display", "use a tuple"),
    gast.Import: ("an import inside the function", "import at the top of the module"),
    gast.ImportFrom: ("an import inside the function", "import at the top of the module"),
}


def subset(function: Node, facts: Facts) -> Node:
    """Refuse what is outside the accepted Python; the tree is returned as it is.

    >>> from srcgrad.interface.show.explain import explain_text
    >>> explain_text("def f(x):\\n    del x[0]\\n    return 1.0", after="subset")
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
    for statement in function.body:
        for node in walk(statement):
            if type(node) not in _ACCEPTED:
                _check(node, facts)
    check_texts(function, facts)
    _check_returns(function, facts)
    return function


_NEEDED = ("len", "list", "range", "reversed", "slice", "zip")


def _check_shadows(function: Node, facts: Facts) -> None:
    """Generated text calls a few of Python's own functions by name."""
    reserved = () if facts.module is None else facts.module.target.reserved
    for name in (*_NEEDED, *reserved):
        found = facts.namespace.lookup(name)
        if name in facts.local or found is None or found.object is not getattr(builtins, name):
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
    if isinstance(node, _PLAIN) or node in facts.lambdas or (facts.generated and isinstance(node, gast.Lambda)):
        return  # a lambda that stands inside is a hook's
    if isinstance(node, gast.Starred) and (facts.generated or _is_shape(node.value, facts)):
        return
    if isinstance(node, gast.Try) and not node.handlers:
        what = "`try` with `finally` is not accepted"
        raise facts.refuse(node, "E5005", what, "put it around the call of the gradient, in a function of its own")
    if not isinstance(node, _STATEMENTS + _EXPRESSIONS):
        raise _refusal(facts, node)
    if isinstance(node, gast.Assign | gast.AugAssign | gast.AnnAssign | gast.For):
        for target in node.targets if isinstance(node, gast.Assign) else [node.target]:
            _check_target(target, node, facts)
    if isinstance(node, gast.Call) and getattr(node.func, "id", "") in _UNSEEN and _is_unseen(node.func.id, facts):
        what = f"`{node.func.id}` is not accepted: what it reads cannot be seen"
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
        found = binding_of(node.func, facts, facts.local)
        return found is not None and found.object is np.shape
    return isinstance(node, gast.Attribute) and node.attr == "shape"


_UNSEEN = {"eval": eval, "exec": exec, "locals": locals, "vars": vars}


def _is_unseen(name: str, facts: Facts) -> bool:
    """Whether a name is Python's own function that reads variables by their names."""
    found = facts.namespace.lookup(name)
    return name not in facts.local and found is not None and found.object is _UNSEEN[name]


def _check_target(target: Node, statement: Node, facts: Facts) -> None:
    if facts.generated and isinstance(statement, gast.AugAssign) and isinstance(statement.op, gast.Add | gast.Sub):
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
        raise facts.refuse(target, "E5005", "assignment to an attribute is not accepted", "bind the value to a name")
    elif isinstance(target, gast.Starred):
        raise _refusal(facts, target)


def _check_returns(function: Node, facts: Facts) -> None:
    """Something is returned."""
    returns = [n for s in function.body for n in walk(s) if isinstance(n, gast.Return)]
    last = function.body[-1]
    only = returns[0] if len(returns) == 1 else None
    nothing = only is not None and (only.value is None or getattr(only.value, "value", 0) is None)
    if not returns or nothing:
        raise facts.refuse(last, "E5005", "the function returns nothing", "return the value to differentiate")


def _refusal(facts: Facts, node: Node) -> Exception:
    what, remedy = _REMEDIES.get(
        type(node), (f"`{type(node).__name__}`", "rewrite it with assignments, `if`, `for` and `while`")
    )
    return facts.refuse(node, "E5005", f"{what} is not accepted", remedy)

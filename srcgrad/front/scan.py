"""What the statements of a module bind, read from its text without running it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal


@dataclass(frozen=True)
class Definition:
    """One way in which a name is bound.

    `node` is the function, class or value; `module`, `level` and `member` say what is imported. A
    definition that is not `certain` stands in a branch that may not run.
    """

    kind: Literal["import", "function", "class", "value", "star", "deleted"]
    line: int
    node: ast.AST | None = None
    module: str = ""
    level: int = 0
    member: str = ""
    certain: bool = True


Table = dict[str, list[Definition]]  # under "*" the star imports
Importable = Callable[[Definition], bool]

STAR = "*"


def scan(body: Sequence[ast.stmt], importable: Importable) -> Table:
    """The definitions that may be in force when `body` has run; a certain definition ends earlier ones.

    `importable` tells whether an import would succeed: it chooses between `try` and `except ImportError`.

    >>> table = scan(ast.parse("import numpy as np\\nif flag:\\n    tiny = 1e-9").body, lambda found: True)
    >>> [(name, found[0].kind, found[0].certain) for name, found in table.items()]
    [('np', 'import', True), ('tiny', 'value', False)]
    """
    table: Table = {}
    for name, found in _block(body, importable):
        if found.certain and name != STAR:
            table[name] = [found]
        else:
            table.setdefault(name, []).append(found)
    for name, line in _declared_global(body):
        table.setdefault(name, []).append(Definition("value", line, certain=False))
    return table


Bound = Iterator[tuple[str, Definition]]


def _block(body: Sequence[ast.stmt], importable: Importable) -> Bound:
    for statement in body:
        yield from _simple(statement)
        if isinstance(statement, ast.If):
            yield from _if(statement, importable)
        elif isinstance(statement, ast.Try):
            yield from _try(statement, importable)
        elif isinstance(statement, ast.With):
            yield from _block(statement.body, importable)
        elif not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _doubtful(_inner(statement), importable)


def _inner(statement: ast.stmt) -> list[ast.stmt]:
    """The statements within a compound statement, of all its branches."""
    parts = [statement, *getattr(statement, "handlers", []), *getattr(statement, "cases", [])]
    fields = ("body", "orelse", "finalbody")
    return [inner for part in parts for field in fields for inner in getattr(part, field, [])]


def _doubtful(body: Sequence[ast.stmt], importable: Importable) -> Bound:
    for name, found in _block(body, importable):
        yield name, replace(found, certain=False)


def _if(statement: ast.If, importable: Importable) -> Bound:
    test = ast.unparse(statement.test)
    if test in ("TYPE_CHECKING", "typing.TYPE_CHECKING") or "__name__ ==" in test:
        yield from _block(statement.orelse, importable)
    else:
        yield from _doubtful([*statement.body, *statement.orelse], importable)


def _try(statement: ast.Try, importable: Importable) -> Bound:
    guards = [item for item in statement.handlers if _catches_import(item)]
    imports = [item for item in statement.body if isinstance(item, ast.Import | ast.ImportFrom)]
    if not guards or not imports:
        yield from _doubtful(_inner(statement), importable)
    elif all(importable(found) for item in imports for _, found in _simple(item)):
        yield from _block([*statement.body, *statement.orelse, *statement.finalbody], importable)
    else:
        yield from _block([*guards[0].body, *statement.finalbody], importable)


def _catches_import(handler: ast.ExceptHandler) -> bool:
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = [item.id for item in caught if isinstance(item, ast.Name)]
    return handler.type is None or any(name in ("ImportError", "ModuleNotFoundError", "Exception") for name in names)


def _simple(statement: ast.stmt) -> Bound:
    """What a statement binds by itself, the blocks that it holds apart."""
    line = statement.lineno
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            module = alias.name if alias.asname else alias.name.partition(".")[0]
            yield alias.asname or module, Definition("import", line, module=module)
    elif isinstance(statement, ast.ImportFrom):
        base = Definition("import", line, module=statement.module or "", level=statement.level)
        for alias in statement.names:
            kind: Literal["star", "import"] = "star" if alias.name == STAR else "import"
            yield alias.asname or alias.name, replace(base, kind=kind, member=alias.name)
    elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        yield statement.name, Definition("function", line, statement)
    elif isinstance(statement, ast.ClassDef):
        yield statement.name, Definition("class", line, statement)
    elif isinstance(statement, ast.Delete):
        for name in _stored(statement):
            yield name, Definition("deleted", line)
    else:
        yield from _values(statement, line)


def _values(statement: ast.stmt, line: int) -> Bound:
    named: dict[str, ast.expr] = {}
    if isinstance(statement, ast.Assign):
        named = {name: value for item in statement.targets for name, value in _each(item, statement.value)}
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        if statement.value is None:  # `x: float` binds nothing
            return
        named = {statement.target.id: statement.value}
    for name in _stored(statement):
        value = named.get(name)
        kind: Literal["function", "value"] = "function" if isinstance(value, ast.Lambda) else "value"
        yield name, Definition(kind, line, value)


def _each(display: ast.expr, value: ast.expr) -> list[tuple[str, ast.expr]]:
    """What an assignment binds to names: part by part in `a, b = 1, 2`, where no part may read what another binds."""
    if isinstance(display, ast.Name):
        return [(display.id, value)]
    if not isinstance(display, ast.Tuple | ast.List) or not isinstance(value, ast.Tuple | ast.List):
        return []
    bound, read = ({n.id for n in ast.walk(one) if isinstance(n, ast.Name)} for one in (display, value))
    if bound & read or len(display.elts) != len(value.elts):
        return []
    return [pair for item, part in zip(display.elts, value.elts, strict=True) for pair in _each(item, part)]


_OWN_SCOPE = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)


def _stored(statement: ast.stmt) -> list[str]:
    """Names bound or deleted by the expressions of a statement, in the order of the text."""
    found: dict[str, None] = {}
    todo: list[ast.AST] = [statement]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            found[node.id] = None
        elif isinstance(node, ast.MatchAs | ast.MatchStar | ast.ExceptHandler) and node.name:
            found[node.name] = None
        if isinstance(node, _OWN_SCOPE):
            inner = [item.target for item in ast.walk(node) if isinstance(item, ast.NamedExpr)]
            todo.extend(inner)
        else:
            children = ast.iter_child_nodes(node)
            todo.extend(reversed([item for item in children if not isinstance(item, ast.stmt)]))
    return list(found)


def _declared_global(body: Sequence[ast.stmt]) -> list[tuple[str, int]]:
    """Names that functions rebind: what the module gave them first says little."""
    return [
        (name, node.lineno)
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Global)
        for name in node.names
    ]

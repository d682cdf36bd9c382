"""Values of modules known only as text that the import changes behind their assignment, and how an output has them.

What changes is told by `import_effects`. The statements by which a name comes to hold its value are found from the last
one on; they are the body of a function of the output, `value_of_W()`. What cannot be taken over so is refused.
"""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Iterator
from dataclasses import field

from srcgrad.backend.text.import_effects import FUNCTIONS, Effects, Event, Place, Value, Values, effects_of, within
from srcgrad.core.bindings import Binding, StaticModule, binding_of_text
from srcgrad.core.identity import record
from srcgrad.core.trees import parsed_children, parsed_nodes
from srcgrad.frontend.calls.side_effects import MODULES, sources


@record(frozen=True)
class Steps:
    """The statements of a module that a value comes from, as the body of a function; `last` is the last line."""

    name: str
    text: str
    last: int


def changes(module: StaticModule, name: str) -> list[int]:
    """Lines that change what a name of a module holds, behind the statement that binds it.

    The value changes, or what it shares elements with; or the name is bound by another way than by an assignment.
    Functions that nothing calls when the module is imported count where they assign items of the name itself.
    """
    effects = effects_of(module)
    if effects.too_long:
        return _mentioned_behind(module, name)
    bound = effects.bound.get((module, name), [])
    own = _own_statements(module, name, bound)
    start = min((event.time for event in bound if _is_among(event.place, own)), default=0)
    found = [event for event in bound if not _is_among(event.place, own)]
    for value in within(effects.ever.get((module, name), {})):
        found += [e for e in effects.writes.get(value, []) if e.time > start and not _is_among(e.place, own)]
    return sorted({*(event.place.line for event in found), *_writers_not_called(module, name, effects)})


def _mentioned_behind(module: StaticModule, name: str) -> list[int]:
    """Where the module does more than is followed: lines behind the last assignment that mention a name.

    So do functions that hand it on or call a method of it, and an assignment that gives its value another name.
    """
    last = max((one.line for one in module.table.get(name, [])), default=0)
    behind = [one for one in module.tree.body if one.lineno > last and not isinstance(one, FUNCTIONS)]
    shared = [one for one in module.tree.body if isinstance(one, ast.Assign) and one.lineno == last and one.targets[1:]]
    within_functions = [one for one in ast.walk(module.tree) if isinstance(one, FUNCTIONS) and _hands_on(one, name)]
    mentioned = [one for one in behind if _mentions(one, name)]
    return sorted({one.lineno for one in (*shared, *within_functions, *mentioned)})


def _hands_on(function: ast.AST, name: str) -> bool:
    """Whether a function may change what a name of its module holds: it assigns to it, or a call or a name gets it."""
    for node in ast.walk(function):
        if isinstance(node, ast.Global) and name in node.names:
            return True
        if isinstance(node, ast.Subscript | ast.Attribute) and _writes_to(node, name):
            return True
        given = [node.value] if isinstance(node, ast.Assign | ast.NamedExpr | ast.Return) else []
        if isinstance(node, ast.Call):
            method = node.func.value if isinstance(node.func, ast.Attribute) else None
            own = isinstance(node.func, ast.Name)  # a function of the module, or one that it imports by name
            given = [*([method] if method is not None else []), *(w.value for w in node.keywords if w.arg == "out")]
            given += node.args if own else []
        if any(isinstance(one, ast.Name) and one.id == name for one in given):
            return True
    return False


def _own_statements(module: StaticModule, name: str, bound: list[Event]) -> list[ast.stmt]:
    """The statements that define a name, as the table of the module has them."""
    lines = {one.line for one in module.table.get(name, [])}
    places = [event.place for event in bound if event.place.module is module]
    return [one for place in places for one in place.statements[-1:] if one.lineno in lines][:1]


def changed_functions(module: StaticModule, name: str) -> list[int]:
    """Lines by which a function of the module means something else behind its definition, or gets attributes."""
    effects = effects_of(module)
    bound = effects.bound.get((module, name), [])
    own = _own_statements(module, name, bound)
    start = max((event.time for event in bound if _is_among(event.place, own)), default=0)
    held = [one for one in effects.ever.get((module, name), {}) if one.kind == "function"]
    events = [*bound, *(event for one in held for event in effects.writes.get(one, []))]
    return sorted({e.place.line for e in events if e.time > start and not _is_among(e.place, own)})


def note_changes(module: StaticModule) -> None:
    """Note in the modules that a target imports the names that mean another thing in the end than their text says."""
    effects = effects_of(module)
    for one in [] if effects.too_long else effects.frames:
        for name, defined in one.table.items():
            if len(defined) == 1 and defined[0].kind == "function" and (lines := changed_functions(one, name)):
                one.differs[name] = f"line {lines[0]} of {one.label} changes {name}"
            elif defined[-1].kind == "value" and is_of_another_kind(one, name, effects):
                one.differs[name] = ""
        one.known.clear()


def is_of_another_kind(module: StaticModule, name: str, effects: Effects) -> bool:
    """Whether a name holds, in the end, what the text of its assignment does not tell the kind of."""
    held = effects.ever.get((module, name), {})
    bound = effects.bound.get((module, name), [])
    own = _own_statements(module, name, bound)
    anew = any(not _is_among(event.place, own) for event in bound) and len({one.kind for one in held}) > 1
    return anew or any(one in effects.other_items for one in within(held))


def is_read_early(module: StaticModule, name: str) -> bool:
    """Whether a value is computed from another one that the module changes then, or later."""
    effects = effects_of(module)
    held, line = effects.ever.get((module, name), {}), module.table[name][-1].line
    read: dict[str, None] = {}
    todo = [] if not held else _names_read(module.table[name][-1].node or ast.Pass())
    while todo:
        one = todo.pop()
        if one in read or one == name or one not in module.table:
            continue
        read[one] = None
        made = effects.ever.get((module, one), {})
        todo += [n for v in made if v.kind in ("function", "class") and v.module is module for n in _names_read(v.node)]
    values = [one for one in read if module.table[one][-1].kind == "value"]
    if _is_changed_before(module, name, effects):
        return True
    return any(max([module.table[one][-1].line - 1, *changes(module, one)]) >= line for one in values)


def _is_changed_before(module: StaticModule, name: str, effects: Effects) -> bool:
    """Whether other statements wrote into a value before its name was bound, and it comes by none of their names."""
    bound = effects.bound.get((module, name), [])
    own = _own_statements(module, name, bound)
    node = module.table[name][-1].node
    through = [effects.ever.get((module, one), {}) for one in (_names_read(node) if node is not None else [])]
    shared = within(v for held in through for v in held if v.kind not in ("function", "class", "partial"))
    alone = [value for value in within(effects.ever.get((module, name), {})) if value not in shared]
    events = [event for value in alone for event in effects.writes.get(value, [])]
    return any(not _is_among(event.place, own) and event.place.module is module for event in events)


def _is_among(place: Place, statements: list[ast.stmt]) -> bool:
    return any(one in statements for one in place.statements)


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(node))


def _writers_not_called(module: StaticModule, name: str, effects: Effects) -> list[int]:
    """Lines of functions that assign items or attributes of the module's value, and that the import does not call."""
    found: list[int] = []
    todo = parsed_children(module.tree)
    while todo:
        node = todo.pop()
        if isinstance(node, FUNCTIONS):
            if module.text.isascii() and name not in "\n".join(module.lines[node.lineno - 1 : node.end_lineno]):
                continue  # it does not even spell the name
            inner = parsed_nodes(node)
            stored = {n.id for n in inner if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            if name in stored or name in {n.arg for n in inner if isinstance(n, ast.arg)} or node in effects.called:
                continue
            found += [n.lineno for n in inner if isinstance(n, ast.Subscript | ast.Attribute) and _writes_to(n, name)]
            continue
        todo += parsed_children(node)
    return found


def _writes_to(node: ast.Subscript | ast.Attribute, name: str) -> bool:
    root: ast.expr = node
    while isinstance(root, ast.Subscript | ast.Attribute):
        root = root.value
    return not isinstance(node.ctx, ast.Load) and isinstance(root, ast.Name) and root.id == name


def steps_of(module: StaticModule, name: str) -> Steps | str:
    """The statements from which a value of a module comes, in their order; or why they cannot be taken over."""
    effects = effects_of(module)
    if effects.too_long:
        return "the module does more than is followed"
    found = _Slice(effects, module, name)
    found.follow()
    reason = found.obstacle()
    return reason or found.steps()


@record
class _Slice:
    """The statements of a module by which a name comes to hold what it holds in the end, found from the last one."""

    effects: Effects
    module: StaticModule
    name: str
    names: set[str] = field(default_factory=set)
    values: Values = field(default_factory=dict)
    kept: dict[ast.stmt, None] = field(default_factory=dict)
    by_statement: dict[ast.stmt, tuple[set[Value], set[str]]] = field(default_factory=dict)
    foreign: set[Value | str] = field(default_factory=set)  # what other modules write into, and names they bind

    def follow(self) -> None:
        """Keep all statements that write into what is needed, or bind a name that is."""
        for value, events in [*self.effects.writes.items(), *self.effects.draws.items()]:
            for event in events:
                if event.place.module is self.module:
                    self._done_by(event.place.statements[-1])[0].add(value)
                else:
                    self.foreign.add(value)
        for (module, name), events in self.effects.bound.items():
            for event in events:
                if module is self.module and event.place.module is module:
                    self._done_by(event.place.statements[-1])[1].add(name)
                elif module is self.module:
                    self.foreign.add(name)
        self._need(self.name)
        for statement in reversed(self.module.tree.body):
            self._visit(statement)
        self._leave_to_others()

    def _done_by(self, statement: ast.stmt) -> tuple[set[Value], set[str]]:
        return self.by_statement.setdefault(statement, (set(), set()))

    def _need(self, name: str) -> None:
        held = self.effects.ever.get((self.module, name))
        defined = self.module.table.get(name, [])
        if held is None or name in self.names or (defined and all(one.kind in ("import", "star") for one in defined)):
            return
        self.names.add(name)
        self.values.update(within(held))
        for one in [one for one in held if one.kind in ("function", "class") and one.module is self.module]:
            for read in _names_read(one.node):
                self._need(read)

    def _visit(self, statement: ast.stmt) -> None:
        if not _is_compound(statement):
            if self._matters(statement):
                self._keep(statement)
            return
        inner = [one for one in ast.walk(statement) if isinstance(one, ast.stmt) and one is not statement]
        count = -1
        while count < len(self.kept):
            count = len(self.kept)
            for one in reversed(inner):
                if one not in self.kept and not isinstance(one, ast.Import | ast.ImportFrom) and self._matters(one):
                    self._keep(one)
            if any(one in self.kept for one in inner) or self._matters(statement):
                self._keep(statement)
                raising = [part for one in (statement, *inner) for part in _may_raise(one)]
                for one in inner:
                    holds = any(part in self.kept for part in ast.walk(one) if isinstance(part, ast.stmt))
                    if holds or one in raising or isinstance(one, ast.Break | ast.Continue | ast.Raise | ast.Pass):
                        self._keep(one)

    def _matters(self, statement: ast.stmt) -> bool:
        written, bound = self.by_statement.get(statement, (set(), set()))
        return any(one in self.values for one in written) or bool(bound & self.names)

    def _keep(self, statement: ast.stmt) -> None:
        if statement in self.kept:
            return
        self.kept[statement] = None
        match statement:
            case ast.Assign([ast.Name(name)]) if statement in self.module.tree.body:
                self.names.discard(name)
        for name in _names_read(statement):
            self._need(name)

    def _leave_to_others(self) -> None:
        """Constants and functions that read nothing of what changes stand in the output by themselves."""
        left = [one for one in self.kept if self._stands_alone(one)]
        here = {name for one in self.kept if one not in left for name in self._bound(one)}
        while back := [one for one in left if here & set(_names_read(one))]:
            left = [one for one in left if one not in back]
            here |= {name for one in back for name in self._bound(one)}
        self.kept = {one: None for one in self.kept if one not in left}

    def _bound(self, statement: ast.stmt) -> set[str]:
        return self.by_statement.get(statement, (set(), set()))[1]

    def _stands_alone(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.FunctionDef(name, decorator_list=[]):
                alone = not any(isinstance(one, ast.Global | ast.Nonlocal) for one in ast.walk(statement))
            case ast.Assign([ast.Name(name)]) if name != self.name:
                alone = not changes(self.module, name)
                made = within(self.effects.ever.get((self.module, name), {}))
                alone = alone and not any(one in self.effects.draws for one in made)
            case _:
                return False
        defined = self.module.table.get(name, [])
        return alone and len(defined) == 1 and defined[0].certain and statement in self.module.tree.body

    def obstacle(self) -> str:
        """Why the statements would not give the same in a function of another module; empty where they do."""
        if any(one in self.foreign for one in (*self.values, *self.names, self.name)):
            return "another module changes it"
        here = {name for one in self.kept for name in self._bound(one)}
        if clash := sorted(here & set(vars(builtins))):
            return f"the module binds {clash[0]}, which is Python's own"
        if self.name not in here:
            return "no statement of the module binds it"
        if found := [one.lineno for one in self.kept if one in self.effects.reflective]:
            return f"line {found[-1]} finds a module in sys.modules"
        for statement in self._outermost():
            for node in self._parts(statement):
                if reason := self._forbids(node):
                    return f"line {getattr(node, 'lineno', statement.lineno)} {reason}"
        return ""

    def _parts(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes of a statement that the output has, and the imports that it would lack."""
        yield node
        whole = isinstance(node, FUNCTIONS | ast.ClassDef)
        for one in ast.walk(node) if whole else ast.iter_child_nodes(node):
            left_out = isinstance(one, ast.stmt) and one not in self.kept
            if whole or not left_out or isinstance(one, ast.Import | ast.ImportFrom):
                yield from [one] if whole else self._parts(one)

    def _outermost(self) -> list[ast.stmt]:
        return [one for one in self.module.tree.body if one in self.kept]

    def _forbids(self, node: ast.AST) -> str:
        match node:
            case ast.stmt() if node not in self.kept and isinstance(node, ast.Import | ast.ImportFrom):
                return "imports what it needs"
            case ast.AnnAssign(_, annotation) if any(isinstance(one, ast.Call) for one in ast.walk(annotation)):
                return "calls what a function would not"  # which evaluates no annotations of its own names
            case ast.Global():
                return "binds a name of the module in a function"
            case ast.Name(name) if name.startswith("__") and name.endswith("__"):
                return f"reads {name}"
            case ast.Call(function):
                found = binding_of_text(function, self.module)
                held = None if found is None else found.object
                if any(held is one for one in (exec, eval, globals, locals, vars, open, input, __import__)):
                    return f"calls {ast.unparse(function)}"
                if draws_elsewhere(held, node):
                    return f"draws by {ast.unparse(function)}"
            case ast.Expr(ast.Call(function) as call):
                if _root(function) not in {name for one in self.kept for name in self._bound(one)}:
                    return self._acts_outside(call, binding_of_text(function, self.module))
        return ""

    def _acts_outside(self, call: ast.Call, found: Binding | None) -> str:
        """A call for its effect, of what is not known here, or of a library that is given a text: it may be a file."""
        if found is None or found.static is not None or (isinstance(call.func, ast.Attribute) and found.object is None):
            return ""
        words = [*call.args, *(word.value for word in call.keywords)]
        told = any(isinstance(part, ast.Constant) and isinstance(part.value, str) for one in words for part in [one])
        known = found.object is not None
        return "" if known and (not told or found.object in (setattr, delattr)) else "acts on more than its arguments"

    def steps(self) -> Steps:
        """The statements that are kept, as the body of a function."""
        found = [line for one in self._outermost() for line in self._lines(one)]
        last = max(one.end_lineno or one.lineno for one in self._outermost())
        return Steps(self.name, "\n".join(f"    {line}".rstrip() for line in found), last)

    def _lines(self, statement: ast.stmt) -> list[str]:
        whole = copy.deepcopy(statement) if self._is_pruned(statement) else statement
        first = min([statement.lineno, *(one.lineno for one in getattr(statement, "decorator_list", []))])
        texts = (n for n in ast.walk(statement) if isinstance(n, ast.JoinedStr | ast.Constant))
        long = any(n.lineno != n.end_lineno and not isinstance(getattr(n, "value", ""), int) for n in texts)
        if whole is not statement:
            self._prune(statement, whole)
        lines = list(self.module.lines[first - 1 : statement.end_lineno])
        alone = lines[0][:1].strip() and lines[-1].encode()[statement.end_col_offset :].decode().strip()[:1] in (
            "",
            "#",
        )
        if whole is not statement or long or not alone:
            return ast.unparse(ast.fix_missing_locations(whole)).split("\n")
        return lines

    def _is_pruned(self, statement: ast.stmt) -> bool:
        if isinstance(statement, FUNCTIONS | ast.ClassDef):
            return False
        return any(isinstance(one, ast.stmt) and one not in self.kept for one in ast.walk(statement))

    def _prune(self, original: ast.stmt, whole: ast.stmt) -> None:
        """Take statements that do nothing for the value out of a copy of a compound one."""
        pairs = zip(ast.walk(original), ast.walk(whole), strict=True)
        for one, other in list(pairs):
            if isinstance(one, FUNCTIONS | ast.ClassDef):
                continue
            for block in ("body", "orelse", "finalbody"):
                inner = getattr(one, block, None)
                if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                    both = zip(inner, getattr(other, block), strict=True)
                    left = [copied for own, copied in both if own in self.kept or self._inside_function(original, own)]
                    setattr(other, block, left or ([ast.Pass()] if block == "body" else []))

    def _inside_function(self, whole: ast.stmt, inner: ast.stmt) -> bool:
        scopes = (n for n in ast.walk(whole) if isinstance(n, FUNCTIONS | ast.ClassDef))
        return any(part is inner for scope in scopes for part in ast.walk(scope) if part is not scope)


def draws_elsewhere(function: object, call: ast.Call) -> bool:
    """Whether a call draws from a source that the whole program shares, or from one that has no seed."""
    if function is None:
        return False
    drawn = isinstance(getattr(function, "__self__", None), sources())
    seeded = bool(call.args or call.keywords)  # `default_rng(7)`
    return drawn or (str(getattr(function, "__module__", None)).startswith(MODULES) and not seeded)


def _may_raise(statement: ast.stmt) -> list[ast.stmt]:
    """The statements whose exceptions a statement may catch."""
    if not isinstance(statement, ast.With | ast.AsyncWith) and not hasattr(statement, "handlers"):
        return []
    return [part for one in getattr(statement, "body", []) for part in ast.walk(one) if isinstance(part, ast.stmt)]


def _root(node: ast.expr) -> str:
    """The name that a chain of items, attributes and calls begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return getattr(node, "id", "")


def _is_compound(statement: ast.stmt) -> bool:
    return (hasattr(statement, "body") and not isinstance(statement, FUNCTIONS | ast.ClassDef)) or isinstance(
        statement, ast.Match
    )


def _names_read(node: ast.AST) -> list[str]:
    """The names that a statement reads: those of a definition with all that stands in it, of others their own."""
    whole = isinstance(node, FUNCTIONS | ast.ClassDef)
    todo, found = [node], list[str]()
    while todo:
        one = todo.pop()
        if isinstance(one, ast.Name):
            found.append(one.id)
        todo += [n for n in ast.iter_child_nodes(one) if whole or not isinstance(n, ast.stmt)]
    return list(dict.fromkeys(found))

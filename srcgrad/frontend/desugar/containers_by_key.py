"""Containers as keys: `item_of[l, 0]` for `l[0]`, where a list, a dict or a deque changes and has several names.

A list that stands in another one, in a dict or in an attribute, and changes there, is a key; what it holds stands in a
table, and its length in another: so names that mean one list mean one key. So do deques, sets of constants, iterators,
and dicts that make what they lack. Which expressions mean them is found by unification: what may meet has one kind.
Where something else meets them, the function is refused as it was.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from dataclasses import field
from functools import partial

import gast

from srcgrad.core.facts import Names
from srcgrad.core.identity import record
from srcgrad.core.namespace import Namespace
from srcgrad.core.rules import rule_of
from srcgrad.core.trees import (
    BLOCKS,
    Block,
    Node,
    after_docstring,
    all_given,
    at,
    copy,
    defaults_of,
    expression,
    find_nodes,
    given_by_place,
    literal_node,
    name,
    names_in,
    own_names,
    parse_tree,
    placed,
    statement,
    stores,
    walk,
)
from srcgrad.frontend.desugar.objects_by_key import Held, Marks, Ordered, rebuilt_parts
from srcgrad.frontend.resolve import binding_in

_MADE: dict[Held, str] = {
    list: "list", dict: "dict", set: "set", collections.deque: "deque", collections.defaultdict: "default",
    collections.OrderedDict: "ordered", iter: "iterator", sorted: "list",
}  # fmt: skip
_WAYS = {*_MADE.values()}
_FAMILY = {"default": "dict", "ordered": "dict"}
_ALWAYS = _WAYS - {"list", "dict"}  # are keys whether or not they have other names
_SHALLOW = (list, tuple, sorted, reversed, enumerate, zip, max, min, map, filter, sum, any, all, len, iter, next)
_LATE = (reversed, enumerate, zip, map, filter)  # read what they are given when they are asked
_COMPARING = (sorted, max, min, any, all, sum, map, filter)  # ask what items are
_EAGER = (range, list, sorted, tuple, set)
_ZEROS: dict[Held, str] = {float: "0.0", int: "0", list: "list", dict: "dict"}
_TABLES = ("item_of", "size_of", "entry_of", "keys_of", "most_of", "at_of")
_KEYED = ("dict", "set")
_OTHER = gast.Pass()  # a statement in which each call has a name
_TEXTS = {  # what methods do; each argument is followed by what its items are to those of the container
    "list.items()": "return [item_of[l, k] for k in range(size_of[l])]",
    "list.item(place)": "return item_of[l, range(size_of[l])[place]]",
    "list.append(v)": "item_of[l, size_of[l]] = v; size_of[l] += 1",
    "list.extend(values)": "for v in values: list_append(l, v)",
    "list.fill(values)": "size_of[l] = 0\nfor v in values: list_append(l, v)",
    "list.clear()": "size_of[l] = 0",
    "list.pop(place=-1)": "start = range(size_of[l])[place]\nv = item_of[l, start]\n"
    "for k in range(start + 1, size_of[l]): item_of[l, k - 1] = item_of[l, k]\nsize_of[l] -= 1\nreturn v",
    "list.insert(place, v)": "start = min(max(place + size_of[l] if place < 0 else place, 0), size_of[l])\n"
    "for k in range(size_of[l], start, -1): item_of[l, k] = item_of[l, k - 1]\n"
    "item_of[l, start] = v\nsize_of[l] += 1",
    "list.index(v)": "for k in range(size_of[l]):\n if item_of[l, k] == v: return k\nraise ValueError",
    "list.remove(v)": "list_pop(l, list_index(l, v))",
    "list.reverse()": "list_fill(l, list_items(l)[::-1])",
    "deque.append(v)": "list_append(l, v)\nif size_of[l] > most_of[l]: list_pop(l, 0)",
    "deque.appendleft(v)": "list_insert(l, 0, v)\nif size_of[l] > most_of[l]: list_pop(l)",
    "deque.extend(values)": "for v in values: deque_append(l, v)",
    "deque.popleft()": "return list_pop(l, 0)",
    "deque.rotate(n=1)": "values = list_items(l)\n"
    "for k in range(len(values)): item_of[l, (k + n) % len(values)] = values[k]",
    "set.add(key)": "if key not in keys_of[l]: keys_of[l] = [*keys_of[l], key]",
    "dict.put(key, v)": "if key not in keys_of[l]: keys_of[l] = [*keys_of[l], key]\nentry_of[l, key] = v",
    "dict.get(key, other=None)": "if key in keys_of[l]: return entry_of[l, key]\nreturn other",
    "dict.setdefault(key, other=None)": "if key not in keys_of[l]: dict_put(l, key, other)\nreturn entry_of[l, key]",
    "dict.update(others)": "for key in others: dict_put(l, key, others[key])",
    "dict.keys()": "return keys_of[l]",
    "dict.values()": "return [entry_of[l, key] for key in keys_of[l]]",
    "dict.items()": "return [(key, entry_of[l, key]) for key in keys_of[l]]",
    "iterator.advance()": "if at_of[l] >= size_of[l]: raise StopIteration\nat_of[l] += 1\n"
    "return item_of[l, at_of[l] - 1]",
    "iterator.advance_or(other)": "if at_of[l] >= size_of[l]: return other\nat_of[l] += 1\n"
    "return item_of[l, at_of[l] - 1]",
}  # fmt: skip
_HEADS = {one.partition("(")[0]: one for one in _TEXTS}
_READS = ("list.items", "list.item", "list.index", "dict.get", "dict.keys", "dict.values", "dict.items")
_TAKES = ("append", "appendleft", "insert", "add")  # their last argument is an item
_GIVES = ("pop", "popleft", "get", "setdefault")
_CHANGES = {one.partition(".")[2] for one in _HEADS if one not in _READS} | {"sort"}


def _first(node: Node) -> str:
    """The text of what `lambda: 1.0` gives."""
    body = node.body if isinstance(node, gast.Lambda) else None
    if isinstance(body, gast.List | gast.Dict) and not find_nodes(body, gast.Name):
        return ("list" if isinstance(body, gast.List) else "dict") if len(list(walk(body))) <= 2 else ""
    return repr(body.value) if isinstance(body, gast.Constant) else ""


@record(eq=False)
class Kind:
    """What may meet at run time, as far as it is known: ways in which it is made, and the kinds of its parts."""

    ways: set[str] = field(default_factory=set)
    parts: dict[str, Kind] = field(default_factory=dict)
    names: set[tuple[str, str]] = field(default_factory=set)
    makes: set[str] = field(default_factory=set)  # what a dict makes where it lacks a key
    changed: bool = False
    inside: bool = False
    same: Kind | None = None

    def root(self) -> Kind:
        """The kind that stands for all that this one has met."""
        found = self
        while found.same is not None:
            found = found.same
        return found

    def part(self, which: str = "item") -> Kind:
        """The kind of a part: of a numbered one of a tuple, or of all items."""
        own = self.root()
        made = own.parts.setdefault(which, Kind(inside=True)).root()
        if "other" in own.ways:
            made.ways.add("other")
        return made

    def all_parts(self) -> Kind:
        """The kind of what is gone over: the items of a tuple are one kind then."""
        for which in [one for one in self.root().parts if one != "item"]:
            meet(self.part(), self.part(which))
        return self.part()

    def at(self, place: object) -> Kind:
        """The kind of an item: of a tuple by its place, of a dict by its key, if these are known."""
        ways = self.root().ways
        known = (type(place) is str and "dict" in ways) or (type(place) is int and place >= 0 and "tuple" in ways)
        return self.part(str(place)) if known and "default" not in ways else self.all_parts()


def meet(one: Kind, other: Kind) -> None:
    """Let two kinds be one, and their parts."""
    one, other = one.root(), other.root()
    if one is other:
        return
    other.same = one
    one.ways |= other.ways
    one.names |= other.names
    one.makes |= other.makes
    one.changed, one.inside = one.changed or other.changed, one.inside or other.inside
    for which, part in other.parts.items():
        if which in one.parts:
            meet(one.parts[which], part)
        else:
            one.root().parts[which] = part


def containers_by_key(tree: Node, namespace: Namespace) -> Node:
    """The function with containers as keys; E5005 where they cannot be told, or there are none."""
    return _ByKey(tree, namespace).spelled()


@record
class _ByKey(Ordered):
    """A function, the kinds of its expressions, and what is made of them."""

    tree: Node
    namespace: Namespace
    functions: dict[str, Node] = field(default_factory=dict)
    own: dict[str, frozenset[str]] = field(default_factory=dict)  # names of each function
    of_nodes: dict[Node, Kind] = field(default_factory=dict)
    of_names: dict[tuple[str, str], Kind] = field(default_factory=dict)
    effects: dict[str, set[tuple[str, Kind]]] = field(default_factory=dict)
    helpers: dict[str, Node] = field(default_factory=dict)
    tables: dict[str, str] = field(default_factory=dict)
    names: Names = field(default_factory=Names)
    marked: Marks = field(default_factory=dict)
    apart: dict[Node, Kind] = field(default_factory=dict)  # targets with parts, and the kinds that they take apart
    at_once: set[Node] = field(default_factory=set)  # expressions whose items are read where they stand

    def spelled(self) -> Node:
        """The function with tables and helpers at its head."""
        tree = self.tree
        inner = [n for s in tree.body for n in find_nodes(s, gast.FunctionDef)]
        self.functions = {n.name: n for n in inner}
        odd = (gast.Try, gast.ClassDef, gast.AsyncFunctionDef, gast.Yield, gast.YieldFrom, gast.Global, gast.Match)
        if len(self.functions) < len(inner) or any(isinstance(n, odd) for n in walk(tree)):
            raise self._refusal("a statement that is not followed")
        self.names.taken |= names_in(tree) | set(self.functions)
        for made in [n for n in walk(tree) if hasattr(n, "generators")]:  # whose names are its own
            targets = [n.id for each in made.generators for n in find_nodes(each.target, gast.Name)]
            renamed = {one: self.names.numbered_name(one) for one in targets}
            outside = {id(n) for n in walk(made.generators[0].iter)}
            for one in [n for n in find_nodes(made, gast.Name) if id(n) not in outside]:
                one.id = renamed.get(one.id, one.id)
        for f in [tree, *inner]:
            free = {one for s in f.body for n in find_nodes(s, gast.Nonlocal) for one in n.names}
            given = {a for s in f.body for n in find_nodes(s, gast.Lambda) for a in all_given(n)}
            self.own[f.name if f is not tree else ""] = frozenset((own_names(f) | given) - free)
        for a in all_given(tree):
            self._of_name(a, "").ways.add("other")
        before, now = (0, 0), (1, 0)
        while before != now:  # kinds that are known late
            self._look(tree.body, "")
            known = {id(k.root()): k.root() for k in [*self.of_nodes.values(), *self.of_names.values()]}.values()
            before, now = now, (len(known), sum(len(k.ways) + len(k.parts) + k.changed + k.inside for k in known))
        if any(self._tag(kind) for kind in self.apart.values()):
            raise self._refusal("a container that is taken apart")
        for n in walk(tree):
            once = [n.iter] if isinstance(n, gast.For | gast.comprehension) else getattr(n, "comparators", [])
            self.at_once |= {*once, *([n.value] if isinstance(n, gast.Starred) else [])}
        last, self.effects = None, {f.name: set() for f in inner}
        while last != self.effects:
            last, self.effects = self.effects, {f.name: self._changes(f.body, f.name) for f in inner}
        for node in inner:
            node.body = self._block(node.body, node.name)
        tree.body = self._block(tree.body, "")
        if not self.tables:
            raise self._refusal("there are none")
        start = after_docstring(tree)
        first = [*(statement(f"{one} = {{}}") for one in self.tables.values()), *self.helpers.values()]
        tree.body[start:start] = [placed(s, tree) for s in first]
        return tree

    def _helper(self, which: str) -> str:
        """The name of a helper, with those that it calls before it, and the tables that it reads."""
        if which not in self.helpers:
            zero = which.partition(" ")[2]
            made = {"list": "v = object(); size_of[v] = 0", "dict": "v = object(); keys_of[v] = []"}.get(
                zero, f"v = {zero}"
            )
            begun = f"if key not in keys_of[l]:\n {made}\n dict_put(l, key, v)\nreturn entry_of[l, key]"
            head = "dict.begin(key)" if zero else _HEADS[which]
            body = (begun if zero else _TEXTS[head]).replace("\n", "\n ")
            called, _, given = head.partition(".")[2].partition("(")
            tree: Held = parse_tree(f"def {called}(l, {given}:\n {body}").body[0]
            tree.name = self.names.fresh(called)
            for read in [n for s in tree.body for n in find_nodes(s, gast.Name)]:
                other = read.id.replace("_", ".", 1)
                if read.id in _TABLES or other in _HEADS:
                    read.id = self._table(read.id) if read.id in _TABLES else self._helper(other)
            for one in walk(tree):
                at(one, self.tree)
            self.helpers[which] = tree
        return str(self.helpers[which].name)

    def _table(self, which: str) -> str:
        if which not in self.tables:
            self.tables[which] = self.names.fresh(which)
        return self.tables[which]

    def _calls(self, which: str, *args: Node) -> Node:
        return gast.Call(name(self._helper(which)), list(args), [])

    def _of(self, text: str, **parts: Node | str) -> Node:
        """An expression that reads tables."""
        return expression(text, **{one: self._table(one) for one in _TABLES if one in text}, **parts)

    def _meant(self, node: Node | None, scope: str) -> Held:
        """What a dotted name means outside of the function."""
        if not isinstance(node, gast.Name | gast.Attribute):
            return None
        found = binding_in(self.namespace, node, self.own[scope] | self.own[""] | frozenset(self.functions))
        return None if found is None or found.kind != "object" else found.object

    # Kinds

    def _of_name(self, one: str, scope: str) -> Kind:
        """The kind of a name; `return` is what a function gives."""
        if one != "return" and one not in self.own[scope] and one not in self.own[""]:
            return Kind({"other"})
        key = (scope if one in self.own[scope] or one == "return" else "", one)
        if key not in self.of_names:
            self.of_names[key] = Kind(names={key})
        return self.of_names[key].root()

    def _look(self, block: Block, scope: str) -> None:
        """Let what the statements bind meet what they bind it to."""
        for node in block:
            if isinstance(node, gast.FunctionDef):
                for one, default in defaults_of(node).items():
                    meet(self._of_name(one, node.name), self._kind(default, scope))
                self._look(node.body, node.name)
                continue
            if isinstance(node, gast.Assign | gast.AnnAssign) and node.value is not None:
                value = self._kind(node.value, scope)
                for place in node.targets if isinstance(node, gast.Assign) else [node.target]:
                    self._bind(place, value, scope)
                self.apart.pop(node.targets[0] if isinstance(node, gast.Assign) else node.target, None)
            elif isinstance(node, gast.AugAssign):
                self._kind(node.value, scope)
                own, item = self._kind(node.target, scope), isinstance(node.target, gast.Subscript)
                if item:
                    self._kind(node.target.value, scope).changed = True
                own.changed |= not item
                if "list" in own.ways and not item:
                    meet(own.part(), self._item(node.value, scope))
                elif not own.ways & _WAYS:
                    own.ways.add("other")
            elif isinstance(node, gast.For):
                self._bind(node.target, self._item(node.iter, scope), scope)
            elif isinstance(node, gast.Return) and node.value is not None:
                meet(self._of_name("return", scope), self._kind(node.value, scope))
            else:
                parts = [getattr(node, key, None) for key in ("test", "value", "exc", "msg")]
                parts += [one.context_expr for one in getattr(node, "items", [])]
                for one in [*parts, *getattr(node, "targets", [])]:
                    if isinstance(one, gast.AST):
                        self._kind(one, scope)
                for one in getattr(node, "targets", []) if isinstance(node, gast.Delete) else []:
                    if isinstance(one, gast.Subscript):
                        self._kind(one.value, scope).changed = True
            for which in BLOCKS:
                self._look(getattr(node, which, None) or [], scope)

    def _bind(self, place: Node, value: Kind, scope: str) -> None:
        value = value.root()
        if isinstance(place, gast.Name):
            meet(self._of_name(place.id, scope), value)
        elif isinstance(place, gast.Tuple | gast.List):
            self.apart[place] = value
            for k, one in enumerate(place.elts):
                if isinstance(one, gast.Starred):
                    rest = self.of_nodes.setdefault(one, Kind({"list"}))
                    meet(rest.part(), value.all_parts())
                    self._bind(one.value, rest, scope)
                else:
                    self._bind(one, value.part(str(k) if "tuple" in value.root().ways else "item"), scope)
        elif isinstance(place, gast.Subscript):
            base = self._kind(place.value, scope)
            base.changed = True
            self._kind(place.slice, scope)
            whole = isinstance(place.slice, gast.Slice)
            meet(
                base.part() if whole else base.at(getattr(place.slice, "value", None)), value.part() if whole else value
            )

    def _kind(self, node: Node, scope: str) -> Kind:
        made = self.of_nodes.setdefault(node, Kind()).root()
        self._find(node, made, scope)
        return made.root()

    def _item(self, node: Node, scope: str) -> Kind:
        """The kind of what an iterable gives."""
        whole = self._kind(node, scope)
        meant = self._meant(node.func, scope) if isinstance(node, gast.Call) else None
        asked: Held = getattr(node, "func", None)
        method = asked.attr if isinstance(asked, gast.Attribute) and meant is None else ""
        if meant in (reversed, sorted, list, tuple, iter) and len(node.args) == 1:
            return self._item(node.args[0], scope)
        if method == "values":
            return self._kind(asked.value, scope).all_parts()
        if meant in (enumerate, zip) or method == "items":
            made = self.of_nodes.setdefault(asked, Kind({"tuple"})).root()
            parts = [] if method else node.args if meant is zip else [None, *node.args[:1]]
            for k, one in enumerate(parts):
                if isinstance(one, gast.Starred):
                    meet(made.part(), self._item(one.value, scope).part())
                else:
                    meet(made.part(str(k)), self._item(one, scope) if one else Kind({"other"}))
            if method:
                meet(made.part("1"), self._kind(asked.value, scope).all_parts())
                made.part("0").ways.add("other")
            return made
        return Kind({"other"}) if whole.ways & {"dict", "default", "ordered"} else whole.all_parts()

    def _starred(self, one: Node, scope: str) -> Kind:
        return self._item(one.value, scope) if isinstance(one, gast.Starred) else self._kind(one, scope)

    def _find(self, node: Node, own: Kind, scope: str) -> None:
        """Note of what kind an expression is."""
        if isinstance(node, gast.Name):
            meet(own, self._of_name(node.id, scope))
        elif isinstance(node, gast.Constant):
            own.ways |= set() if node.value is None else {"other"}
        elif isinstance(node, gast.List | gast.Set | gast.Tuple):
            own.ways.add(type(node).__name__.lower())
            for k, one in enumerate(node.elts):
                meet(own.part(str(k) if isinstance(node, gast.Tuple) else "item"), self._starred(one, scope))
        elif isinstance(node, gast.Dict):
            own.ways.add("dict")
            for key, one in zip(node.keys, node.values, strict=True):
                value = self._kind(one, scope)
                which = str(key.value) if isinstance(key, gast.Constant) else "item"
                meet(own.part(which), value.all_parts() if key is None else value)
        elif hasattr(node, "generators"):
            for each in node.generators:
                self._bind(each.target, self._item(each.iter, scope), scope)
                for test in each.ifs:
                    self._kind(test, scope)
            own.ways.add(type(node).__name__.removesuffix("Comp").lower())
            meet(own.part(), self._kind(node.value if isinstance(node, gast.DictComp) else node.elt, scope))
        elif isinstance(node, gast.IfExp | gast.BoolOp | gast.NamedExpr):
            parts = getattr(node, "values", None) or [getattr(node, "body", None) or node.value]
            if isinstance(node, gast.IfExp):
                self._kind(node.test, scope)
                parts = [*parts, node.orelse]
            for part in [*parts, *([node.target] if isinstance(node, gast.NamedExpr) else [])]:
                meet(own, self._kind(part, scope))
        elif isinstance(node, gast.Subscript):
            base, place = self._kind(node.value, scope), getattr(node.slice, "value", None)
            self._kind(node.slice, scope)
            if isinstance(node.slice, gast.Slice):
                own.ways |= base.ways & {"list", "other", "tuple"}
                meet(own.part(), base.all_parts())
            else:
                meet(own, base.at(place))
        elif isinstance(node, gast.BinOp):
            lists = [one for one in (self._kind(node.left, scope), self._kind(node.right, scope)) if "list" in one.ways]
            own.ways.add("list" if lists else "other")
            for kind in lists:
                meet(own.part(), kind.part())
        elif isinstance(node, gast.Call):
            self._find_call(node, own, scope)
        else:
            for one in [node.body] if isinstance(node, gast.Lambda) else gast.iter_child_nodes(node):
                if isinstance(one, gast.expr):
                    self._kind(one, scope)
            own.ways |= set() if isinstance(node, gast.Slice) else {"other"}

    def _find_call(self, node: Node, own: Kind, scope: str) -> None:
        args = [self._kind(a.value if isinstance(a, gast.Starred) else a, scope) for a in node.args]
        words = {str(w.arg): self._kind(w.value, scope) for w in node.keywords}
        meant = self._meant(node.func, scope)
        key = next((w.value for w in node.keywords if w.arg == "key"), None)
        mapped = [node.args[0]] if meant in (map, filter) and args else [key]
        for function in [one for one in mapped if isinstance(one, gast.Lambda)]:
            over = node.args[meant in (map, filter) :] or [node.func.value]
            for one, given in zip(all_given(function), over, strict=False):
                meet(self._of_name(one, scope), self._item(given, scope))
            if meant is map:
                meet(own.part(), self._kind(function.body, scope))
        called = getattr(node.func, "id", "")
        if called in self.functions:
            tree = self.functions[called]
            if (
                any(isinstance(a, gast.Starred) for a in node.args)
                or "None" in words
                or tree.args.vararg
                or tree.args.kwarg
            ):
                for kind in [*args, *words.values(), *(self._of_name(p, called) for p in all_given(tree))]:
                    kind.ways.add("other")
            for one, kind in [*zip(given_by_place(tree), args, strict=False), *words.items()]:
                meet(self._of_name(one, called), kind)
            meet(own, self._of_name("return", called))
        elif isinstance(node.func, gast.Attribute) and meant is None:
            self._find_method(node, self._kind(node.func.value, scope), (args, words), own, scope)
        elif isinstance(meant, type | type(iter)) and meant in _MADE:
            own.ways.add(_MADE[meant])
            keyed, first = _MADE[meant] in ("dict", "default", "ordered"), int(meant is collections.defaultdict)
            if first and args:
                own.makes.add(_first(node.args[0]) or _ZEROS.get(self._meant(node.args[0], scope), ""))
                own.part().ways |= own.makes & {"list", "dict"} or {"other"}
            if len(args) > first:
                meet(own.all_parts(), args[first].all_parts() if keyed else self._item(node.args[first], scope))
            for kind in words.values() if keyed else []:
                meet(own.part(), kind)
        elif meant in (max, min, next) and args and (meant is next or len(args) == 1):
            for kind in [
                self._item(node.args[0], scope),
                *args[1:],
                *([words["default"]] if "default" in words else []),
            ]:
                meet(own, kind)
        else:
            own.ways.add("object" if meant is object else "other")

    def _find_method(self, node: Node, base: Kind, given: Held, own: Kind, scope: str) -> None:
        """Note what a method of a container takes and gives."""
        which, (args, words) = node.func.attr, given
        if not base.ways & _WAYS:
            own.ways |= {"other"} if base.ways else set()
            return
        base.changed |= which in _CHANGES
        taken = args[-1:] if which in _TAKES else []
        taken += [self._item(node.args[0], scope)] if which in ("extend", "extendleft") and args else []
        taken += [*(one.all_parts() for one in args), *words.values()] if which == "update" else []
        for one in taken:
            meet(base.all_parts(), one)
        if which in _GIVES:
            for one in [base.all_parts(), *args[1:]]:
                meet(own, one)
        elif which == "copy":
            own.ways |= base.ways
            meet(own.all_parts(), base.all_parts())
        else:
            own.ways |= set() if which in _CHANGES else {"other"}

    # What becomes of them

    def _tag(self, kind: Kind | None) -> str:
        """The family of containers if they are keys; an empty string for all else."""
        own = Kind() if kind is None else kind.root()
        held = own.ways & _WAYS
        if not held or not (held & _ALWAYS or (own.changed and (own.inside or len(own.names) > 1))):
            return ""
        families = {_FAMILY.get(one, one) for one in held}
        if own.ways - held or len(families) > 1:
            raise self._refusal(f"{', '.join(sorted(own.ways))} under one name")
        return families.pop()

    def _root(self, node: Node | None) -> Kind:
        found = self.of_nodes.get(node) if node is not None else None
        return Kind() if found is None else found.root()

    def _keyed(self, node: Node | None) -> str:
        return self._tag(self._root(node))

    def _changes(self, block: Block, scope: str) -> set[tuple[str, Kind]]:
        """The kinds that statements change, and whether their lengths."""
        found: set[tuple[str, Kind]] = set()
        for node in [n for s in block for n in walk(s)]:
            asked = node.func if isinstance(node, gast.Call) else None
            if getattr(asked, "id", "") in self.functions:
                found |= self.effects[node.func.id]
            if isinstance(asked, gast.Attribute) and asked.attr in _CHANGES:
                found.add(("size", self._root(asked.value)))
            elif self._meant(asked, scope) is next and node.args:
                found.add(("size", self._root(node.args[0])))
            elif isinstance(node, gast.Subscript):
                base = self._root(node.value)
                sized = "default" in base.ways or isinstance(node.slice, gast.Slice)
                if sized or not isinstance(node.ctx, gast.Load):
                    found.add(("size" if sized or isinstance(node.ctx, gast.Del) else "item", base))
            elif isinstance(node, gast.AugAssign):
                found.add(("size", self._root(node.target)))
            elif isinstance(node, gast.For) and self._keyed(node.iter) == "iterator":
                found.add(("size", self._root(node.iter)))
        return {(how, kind) for how, kind in found if self._tag(kind)}

    def _block(self, block: Block, scope: str) -> Block:
        return [made for node in block for made in self._statement(node, scope)]

    def _statement(self, node: Node, scope: str) -> Block:
        if isinstance(node, gast.FunctionDef):
            return [node]  # which is spelled by itself
        value = getattr(node, "value", None)
        if isinstance(node, gast.Assign | gast.Return) and isinstance(value, gast.IfExp) and self._keyed(value):
            sides = [copy(node), copy(node)]  # each may make one
            sides[0].value, sides[1].value = value.body, value.orelse
            node = at(gast.If(value.test, [sides[0]], [sides[1]]), node)
        changes = self._changes([node], scope) if isinstance(node, gast.For) else set()
        for which in BLOCKS:
            if getattr(node, which, None):
                setattr(node, which, self._block(getattr(node, which), scope))
        before: Block = []
        if isinstance(node, gast.For):
            return self._for(node, changes, scope)
        if isinstance(node, gast.AugAssign):
            return self._augmented(node, before, scope)
        places = [n for one in getattr(node, "targets", []) for n in walk(one) if isinstance(n, gast.Subscript)]
        if any(self._keyed(n.value) for n in places):
            if isinstance(node, gast.Delete):
                return [placed(gast.Expr(self._removed(one, scope)), node) for one in node.targets]
            return self._put(node, before, scope)
        for key in ("test", "value", "exc", "msg"):
            part = getattr(node, key, None)
            if isinstance(part, gast.AST):
                whole = isinstance(node, gast.Return) and not scope and key == "value"
                unpacked = isinstance(node, gast.Assign) and isinstance(node.targets[0], gast.Tuple)
                how = self._test if key == "test" else self._deep if whole else self._shallow if unpacked else self._ref
                setattr(node, key, self._in_order(part, how, node, before, scope))
        if before and isinstance(node, gast.While):
            raise self._refusal("a test that changes a container")
        return (
            before if before and isinstance(node, gast.Expr) and isinstance(node.value, gast.Name) else [*before, node]
        )

    def _removed(self, place: Node, scope: str) -> Node:
        if (
            not isinstance(place, gast.Subscript)
            or self._keyed(place.value) != "list"
            or isinstance(place.slice, gast.Slice)
        ):
            raise self._refusal("`del` of what is no item of a list")
        made = self._calls("list.pop", self._ref(place.value, scope), self._deep(place.slice, scope))
        if self.marked:
            raise self._refusal("`del` of what is computed")
        return made

    def _augmented(self, node: Node, before: Block, scope: str) -> Block:
        place, tag = node.target, self._keyed(node.target)
        if tag and not (tag in ("list", "deque") and isinstance(node.op, gast.Add)):
            raise self._refusal("what a container is changed by")
        if tag and isinstance(place, gast.Name):
            given = self._in_order(node.value, self._shallow, node, before, scope)
            return [*before, placed(gast.Expr(self._calls(f"{tag}.extend", at(name(place.id), place), given)), node)]
        node.value = self._in_order(node.value, self._deep, node, before, scope)
        if not isinstance(place, gast.Subscript):
            return [*before, node]
        if before or tag:
            raise self._refusal("a change of what is added to")
        own, held = self._root(place.value), self._in_order(place.value, self._ref, node, before, scope)
        if not self._tag(own):
            place.value = held
            return [*before, node]
        key = self._simple(self._in_order(place.slice, self._deep, node, before, scope), node, before)
        held = self._simple(held, node, before)
        if own.makes:
            before.append(placed(gast.Expr(self._begun(own, held, key)), node))
        node.target = at(self._place(own, copy(held), copy(key), gast.Store()), place)
        return [*before, node]

    def _simple(self, value: Node, node: Node, before: Block) -> Node:
        if isinstance(value, gast.Name | gast.Constant):
            return value
        spelled = self.names.fresh("held")
        before.append(placed(gast.Assign([name(spelled, gast.Store())], value, None), node))
        return at(name(spelled), node)

    def _put(self, node: Node, before: Block, scope: str) -> Block:
        """Writes of items: `put(d, key, e)`; of several, what they get has names first."""
        place, value = node.targets[0], node.value
        both = isinstance(place, gast.Tuple) and isinstance(value, gast.Tuple) and len(place.elts) == len(value.elts)
        if len(node.targets) > 1 or not (both or isinstance(place, gast.Subscript)):
            raise self._refusal("several targets")
        if both:
            made: Block = []
            for one, item in zip(place.elts, value.elts, strict=True):
                given = self._in_order(item, self._ref, _OTHER, before, scope)
                spelled = name(self.names.fresh("t"))
                before.append(placed(gast.Assign([name(spelled.id, gast.Store())], given, None), node))
                self.of_nodes[spelled] = self._root(item)
                made += self._statement(placed(gast.Assign([one], spelled, None), node), scope)
            return [*before, *made]
        late: Block = []
        given = self._in_order(value, self._ref, _OTHER, before, scope)
        own, held = self._root(place.value), self._in_order(place.value, self._ref, _OTHER, late, scope)
        key = (
            place.slice
            if isinstance(place.slice, gast.Slice)
            else self._in_order(place.slice, self._deep, _OTHER, late, scope)
        )
        given = self._simple(given, node, before) if late else given  # what is written is computed first
        before += late
        if not self._tag(own):
            place.value, place.slice, node.value = held, key, given
            return [*before, node]
        if isinstance(place.slice, gast.Slice):
            if (place.slice.lower, place.slice.upper, place.slice.step) != (None, None, None):
                raise self._refusal("a part of a list is bound")
            given = self._calls("list.items", given) if self._keyed(value) else given
            return [*before, placed(gast.Expr(self._calls("list.fill", held, given)), node)]
        if self._tag(own) == "dict":
            return [*before, placed(gast.Expr(self._calls("dict.put", held, key, given)), node)]
        held = self._simple(held, node, before)
        node.targets, node.value = [at(self._place(own, held, key, gast.Store()), place)], given
        return [*before, node]

    def _for(self, node: Node, changes: set[tuple[str, Kind]], scope: str) -> Block:
        """A loop over what a container holds at each trip."""
        before: Block = []
        whole, form, asked = node.iter, "", getattr(node.iter, "func", None)
        meant = self._meant(asked, scope)
        if meant is enumerate and len(whole.args) == 1 and not whole.keywords:
            whole, form = whole.args[0], "enumerate"
        elif isinstance(asked, gast.Attribute) and not node.iter.args and asked.attr in ("items", "values", "keys"):
            whole, form = asked.value, asked.attr
        tag, own = self._keyed(whole), self._root(whole)
        if (
            not tag
            or tag == "set"
            or (form and (tag == "dict") == (form == "enumerate"))
            or (form and tag == "iterator")
        ):
            made = isinstance(node.iter, gast.ListComp | gast.BinOp | gast.List)
            made |= isinstance(getattr(node.iter, "slice", None), gast.Slice)
            made |= meant in _EAGER or str(getattr(meant, "__module__", "")) == "numpy"
            read = set() if made else {id(self._root(n)) for n in walk(node.iter)}
            if tag == "set" or any(id(kind) in read for _, kind in changes):
                raise self._refusal("a loop changes what it goes over")
            node.iter = self._in_order(node.iter, self._shallow, node, before, scope)
            return [*before, node]
        if tag != "iterator" and ("size", own) in changes:
            raise self._refusal("a loop changes what it goes over")
        held = self._simple(self._in_order(whole, self._ref, node, before, scope), node, before)
        if held.id in {one for s in node.body for n in walk(s) if isinstance(n, gast.stmt) for one in stores(n)}:
            before.append(placed(gast.Assign([name(kept := self.names.fresh("held"), gast.Store())], held, None), node))
            held = at(name(kept), node)
        k = self.names.numbered_name("key" if tag == "dict" else "k")
        if tag == "iterator":
            first = placed(gast.Assign([node.target], self._calls("iterator.advance", held), None), node)
            test = self._of("at_of[l] < size_of[l]", l=copy(held))
            return [*before, placed(gast.While(test, [first, *node.body], node.orelse), node)]
        item = self._of("entry_of[l, k]" if tag == "dict" else "item_of[l, k]", l=held, k=k)
        bound = name(k) if tag == "dict" and form in ("", "keys") else item
        bound = gast.Tuple([name(k), item], gast.Load()) if form in ("enumerate", "items") else bound
        node.iter = placed(self._of("keys_of[l]" if tag == "dict" else "range(size_of[l])", l=copy(held)), node)
        node.body = [placed(gast.Assign([node.target], bound, None), node), *node.body]
        node.target = at(name(k, gast.Store()), node)
        return [*before, node]

    def _place(self, own: Kind, held: Node, key: Node, context: Node) -> Node:
        """The place of an item in its table; of a list, an index may be negative, and one out of range raises."""
        text = "entry_of[l, k]" if self._tag(own) == "dict" else "item_of[l, range(size_of[l])[k]]"
        made = self._of(text, l=held, k=key)
        return gast.Subscript(made.value, made.slice, context)

    def _begun(self, own: Kind, held: Node, key: Node) -> Node:
        made = "".join(own.makes)
        if (
            len(own.makes) != 1
            or not made
            or (made in _ZEROS.values() and made.isalpha() and self._tag(own.part()) != made)
        ):
            raise self._refusal("what a dict makes where it lacks a key")
        return self._calls(f"begin {made}", held, key)

    # Expressions

    def _in_order(self, part: Node, how: Callable[[Node, str], Node], node: Node, before: Block, scope: str) -> Node:
        """An expression in terms of tables; calls that change containers stand before it, in their order."""
        self.marked = {}
        made = how(part, scope)
        changes = {one for one, make in self.marked.items() if make is None or "marks" in make.keywords}
        wholes = [self.helpers["list.items"].name] if "list.items" in self.helpers else []
        for n in walk(made) if changes else []:  # `l + [l.pop()]` reads `l` behind the change
            parts = n.args if isinstance(n, gast.Call) else [n.left, n.right] if isinstance(n, gast.BinOp) else []
            read = [k for k, one in enumerate(parts) if getattr(getattr(one, "func", None), "id", "") in wholes]
            if any(n in changes for one in parts[read[0] + 1 :] for n in walk(one)) if read else False:
                raise self._refusal("a change while a container is read")
        return self.in_order(made, node, before)

    def _mark(self, call: Node, make: Held = None) -> Node:
        self.marked[call] = make
        return call

    def _test(self, node: Node, scope: str) -> Node:
        """A test: a container is true if it holds something."""
        tag, made = self._keyed(node), self._ref(node, scope)
        return at(expression("n > 0", n=self._size(tag, made)), node) if tag else made

    def _size(self, tag: str, held: Node) -> Node:
        if tag == "iterator":
            raise self._refusal("the length of an iterator")
        return self._of("len(keys_of[l])" if tag in _KEYED else "size_of[l]", l=held)

    def _shallow(self, node: Node, scope: str) -> Node:
        """What an expression gives as a list of its items, or the keys of a dict, if it means a container."""
        tag, made = self._keyed(node), self._ref(node, scope)
        if tag in ("set", "iterator"):
            raise self._refusal(f"a {tag} as a whole")
        held = self._of("keys_of[l]", l=made) if tag == "dict" else self._calls("list.items", made) if tag else made
        return at(held, node)

    def _deep(self, node: Node, scope: str) -> Node:
        """The same for what nothing is known of: no item may be a container."""
        if self._keyed(node) == "dict":
            raise self._refusal("a dict as a whole")
        own = self._root(node)
        inner = own.part() if "list" in own.ways else Kind()
        made = self._shallow(node, scope)
        if self._tag(inner) == "list" and not self._tag(inner.part()):
            rows = expression(
                "[f(r) for r in l]", f=self._helper("list.items"), r=self.names.numbered_name("row"), l=made
            )
            return at(rows, node)
        if any(self._tag(part) for part in own.parts.values()):
            raise self._refusal("a container of containers as a whole")
        return made

    def _ref(self, node: Node, scope: str) -> Node:
        """An expression in terms of tables; a container stays a key."""
        if isinstance(node, gast.Call):
            return at(self._call(node, scope), node)
        if isinstance(node, gast.Subscript):
            return at(self._subscript(node, scope), node)
        if isinstance(node, gast.List | gast.Set | gast.Dict | gast.BinOp) or hasattr(node, "generators"):
            return self._display(node, scope)
        if isinstance(node, gast.Compare):
            return self._comparison(node, scope)
        if isinstance(node, gast.IfExp):
            node.test = self._test(node.test, scope)
            node.body, node.orelse = self._ref(node.body, scope), self._ref(node.orelse, scope)
            return node
        if isinstance(node, gast.BoolOp) or (isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not)):
            if self._keyed(node):
                raise self._refusal("`or` of containers")
            return rebuilt_parts(node, lambda one: self._test(one, scope))
        if isinstance(node, gast.Name | gast.Constant):
            return node
        kept = isinstance(node, gast.Tuple | gast.NamedExpr | gast.Lambda)
        return rebuilt_parts(node, lambda one: (self._ref if kept else self._deep)(one, scope))

    def _comparison(self, node: Node, scope: str) -> Node:
        sides = [node.left, *node.comparators]
        made = [self._ref(node.left, scope)]
        for op, left, right in zip(node.ops, sides, sides[1:], strict=False):
            tag, held = self._keyed(right), self._ref(right, scope)
            within, same = isinstance(op, gast.In | gast.NotIn), isinstance(op, gast.Is | gast.IsNot)
            if (
                (tag == "iterator")
                or (not same and (self._holds(left, scope) or self._holds(right, scope)))
                or ((tag or self._keyed(left)) and not within and not same)
            ):
                raise self._refusal("containers are compared")
            if tag and within:
                held = self._of("keys_of[l]", l=held) if tag in _KEYED else self._calls("list.items", held)
            made.append(at(held, right))
        node.left, node.comparators = made[0], made[1:]
        return node

    def _subscript(self, node: Node, scope: str) -> Node:
        tag, own = self._keyed(node.value), self._root(node.value)
        if not tag:
            return rebuilt_parts(node, lambda one: (self._ref if one is node.value else self._deep)(one, scope))
        held = self._ref(node.value, scope)
        if isinstance(node.slice, gast.Slice):
            part = rebuilt_parts(node.slice, lambda one: self._deep(one, scope))
            return self._new(gast.Subscript(self._calls("list.items", held), part, gast.Load()), node)
        key = self._deep(node.slice, scope)
        if own.makes:
            return self._mark(self._begun(own, held, key))
        if tag == "dict" or isinstance(held, gast.Name):
            return self._place(own, held, key, gast.Load())
        return self._calls("list.item", held, key)

    def _display(self, node: Node, scope: str) -> Node:
        tag, marked = self._keyed(node), dict(self.marked)
        if isinstance(node, gast.BinOp):
            how = self._shallow if "list" in self._root(node).ways else self._deep
            node.left, node.right = how(node.left, scope), how(node.right, scope)
        elif hasattr(node, "generators"):
            if isinstance(node, gast.GeneratorExp):
                self._check_late(node)
            for each in node.generators:
                each.iter = self._shallow(each.iter, scope)
                each.ifs = [self._test(one, scope) for one in each.ifs]
            for key in [one for one in ("elt", "key", "value") if hasattr(node, one)]:
                setattr(node, key, self._ref(getattr(node, key), scope))
            inner = {one: make for one, make in self.marked.items() if one not in marked}
            if inner or (tag and isinstance(node, gast.ListComp)):
                if not isinstance(node, gast.ListComp):
                    raise self._refusal("a change inside of a comprehension")
                self.marked = marked
                return self._mark(node, partial(self._looped, tag=tag, marks=inner))
        elif isinstance(node, gast.Dict):
            rebuilt_parts(node, lambda one: self._ref(one, scope))
        else:
            node.elts = [
                self._shallow(one.value, scope) if isinstance(one, gast.Starred) else self._ref(one, scope)
                for one in node.elts
            ]
        return self._new(node, node)

    def _new(self, made: Node, like: Node, most: Node | None = None) -> Node:
        """A new container of what an expression gives, if it is one."""
        tag = self._keyed(like)
        return self._mark(made, partial(self._made, tag=tag, most=most)) if tag else made

    def _begin(self, tag: str, like: Node, before: Block, most: Node | None = None) -> str:
        spelled = self.names.fresh(f"own_{tag}")
        first = [self._of("keys_of[l] == []" if tag in _KEYED else "size_of[l] == 0", l=spelled)]
        first += [self._of("at_of[l] == 0", l=spelled)] if tag == "iterator" else []
        first += (
            [self._of("most_of[l] == n", l=spelled, n=most or expression("float('inf')"))] if tag == "deque" else []
        )
        before.append(placed(statement(f"{spelled} = object()"), like))
        for one in first:
            one.left.ctx = gast.Store()
            before.append(placed(gast.Assign([one.left], one.comparators[0], None), like))
        return spelled

    def _made(self, value: Node, before: Block, spelled: str, tag: str, most: Node | None = None) -> str:
        """A new key, and what it holds at first."""
        spelled = self._begin(tag, value, before, most)
        put = {"dict": "dict.put", "set": "set.add", "deque": "deque.append"}.get(tag, "list.append")
        if isinstance(value, gast.Dict):
            pairs = [(key, one) if key else (one,) for key, one in zip(value.keys, value.values, strict=True)]
            calls = [self._calls("dict.put" if pair[1:] else "dict.update", name(spelled), *pair) for pair in pairs]
        elif isinstance(value, gast.List | gast.Set):
            calls = [self._calls(put, name(spelled), one) for one in value.elts]
        elif tag == "dict":
            calls = [self._calls("dict.update", name(spelled), value)]
        else:
            each = self.names.numbered_name("v")
            body = gast.Expr(self._calls(put, name(spelled), name(each)))
            before.append(placed(gast.For(name(each, gast.Store()), value, [body], [], None), value))
            return spelled
        before += [placed(gast.Expr(one), value) for one in calls]
        return spelled

    def _looped(self, made: Node, before: Block, spelled: str, tag: str, marks: Marks) -> str:
        """A comprehension as a loop."""
        if not tag:
            return self.loop(made, before, "", marks)
        kept = self._begin(tag, made, before)
        return self.loop(made, before, kept, marks, partial(self._calls, f"{tag}.append", name(kept)))

    def _call(self, call: Node, scope: str) -> Node:
        meant = self._meant(call.func, scope)
        asked = call.func.value if isinstance(call.func, gast.Attribute) and meant is None else None
        home = str(getattr(meant, "__module__", "") or "").partition(".")[0]
        known = meant is not iter and callable(meant) and (meant in _SHALLOW or meant in _MADE)
        if known or home in ("numpy", "math") or getattr(call.func, "attr", "") in ("extend", "update", "join"):
            self.at_once |= set(call.args)
        if meant in _LATE:
            self._check_late(call)
        key = next((w.value for w in call.keywords if w.arg == "key"), None)
        asks = key if key is not None else call.args[0] if meant in (map, filter) and call.args else None
        compares = meant in _COMPARING or (asked and call.func.attr in ("index", "remove", "count", "sort"))
        if (
            compares
            and not isinstance(asks, gast.Lambda)
            and any(self._holds(one, scope) for one in [asked, *call.args])
        ):
            raise self._refusal("containers are compared")
        if self._keyed(asked):
            return self._method(call, scope)
        if isinstance(meant, type | type(iter)) and meant in _MADE and self._keyed(call):
            return self._new_container(call, meant, scope)
        keyed = [self._keyed(one) for one in [*call.args, *(word.value for word in call.keywords)]]
        if meant is len and any(keyed):
            return self._size(keyed[0], self._ref(call.args[0], scope))
        if meant is next and keyed and keyed[0] == "iterator":
            which = "iterator.advance" if len(call.args) == 1 else "iterator.advance_or"
            return self._mark(self._calls(which, *[self._ref(one, scope) for one in call.args]))
        called = getattr(call.func, "id", "") in self.functions
        own = asked is not None and call.func.attr in _CHANGES
        reads = (
            rule_of(meant) is not None
            or meant in _SHALLOW
            or (home in ("numpy", "math", "operator") and callable(meant))
        )
        if any(keyed) and not (called or own or reads):
            raise self._refusal("a function that may change a container, or asks what it is")
        how = self._ref if called or own else self._shallow if meant in _SHALLOW else self._deep
        call.args = [
            how(one, scope) if not isinstance(one, gast.Starred) else rebuilt_parts(one, lambda a: self._deep(a, scope))
            for one in call.args
        ]
        for word in call.keywords:
            word.value = (self._ref if called or isinstance(word.value, gast.Lambda) else self._deep)(word.value, scope)
        if asked is not None:
            call.func.value = self._ref(asked, scope)
        return self._mark(call) if called and self.effects[call.func.id] else call

    def _check_late(self, node: Node) -> None:
        """Refuse what reads a container later than where it stands."""
        if node not in self.at_once and any(map(self._keyed, walk(node))):
            raise self._refusal("what reads a container later")

    def _holds(self, node: Node | None, scope: str) -> bool:
        """Whether an expression gives containers that are keys."""
        asked = node.func if isinstance(node, gast.Call) else None
        if isinstance(asked, gast.Attribute) and asked.attr in ("values", "items"):
            return self._holds(asked.value, scope)
        if node is not None and asked is not None and self._meant(asked, scope) in (*_LATE[:3], iter):
            return any(self._holds(one, scope) for one in node.args)
        parts = list(self._root(node).parts.values())
        return any(self._tag(one) or any(map(self._tag, one.root().parts.values())) for one in parts)

    def _new_container(self, call: Node, meant: Held, scope: str) -> Node:
        """`deque(l, 3)`, `defaultdict(list)`, `iter(l)`, `list(l)`: a new key."""
        args, words, tag = list(call.args), {str(w.arg): w.value for w in call.keywords}, self._keyed(call)
        most = None
        if meant is collections.defaultdict:
            args = args[1:]
        elif meant is collections.deque:
            bound = args.pop() if len(args) > 1 else words.pop("maxlen", None)
            most = None if bound is None else self._deep(bound, scope)
        written = [
            one for one in map(self._root, self.of_nodes) if one.changed and one.parts and not one.ways & _ALWAYS
        ]
        changed = meant is iter and (
            len(args) != 1 or self._root(args[0]) in written or any("other" in one.ways for one in written)
        )
        if changed or len(args) > 1 or (words and (args or tag != "dict") and meant is not sorted):
            raise self._refusal("arguments of another kind")
        if words and tag == "dict":
            return self._new(
                gast.Dict([literal_node(w) for w in words], [self._ref(one, scope) for one in words.values()]), call
            )
        if tag == "dict":
            if args and self._keyed(args[0]) != "dict":
                raise self._refusal("a dict of pairs")
            return self._new(gast.Dict([None] * len(args), [self._ref(one, scope) for one in args]), call)
        given = [self._shallow(one, scope) for one in args]
        if meant is sorted:
            return self._new(
                gast.Call(call.func, given, [gast.keyword(w, self._ref(one, scope)) for w, one in words.items()]), call
            )
        first = (
            expression("[v for v in l]", v=self.names.numbered_name("v"), l=given[0])
            if given
            else gast.List([], gast.Load())
        )
        return self._new(at(first, call), call, most)

    def _method(self, call: Node, scope: str) -> Node:
        """`append(l, e)` for `l.append(e)`."""
        which, tag = call.func.attr, self._keyed(call.func.value)
        held = self._ref(call.func.value, scope)
        spelled = f"{tag}.{which}"
        spelled = f"list.{which}" if tag == "deque" and spelled not in _HEADS else spelled
        if which in ("extend", "sort", "copy") and tag in ("list", "deque"):
            args = [self._shallow(one, scope) for one in call.args]
            if which == "copy" and tag == "list":
                return self._new(self._calls("list.items", held), call)
            if which == "sort" and not find_nodes(held, gast.Call):
                words = [gast.keyword(w.arg, self._ref(w.value, scope)) for w in call.keywords]
                given = gast.Call(name("sorted"), [self._calls("list.items", copy(held))], words)
                return self._mark(self._calls("list.fill", held, given))
        else:
            args = [self._ref(one, scope) for one in call.args]
        if which == "update" and tag == "dict" and (call.keywords or isinstance(call.args[0], gast.Dict)):
            values = [self._ref(w.value, scope) for w in call.keywords]
            args = [*args, *([gast.Dict([literal_node(w.arg) for w in call.keywords], values)] if values else [])]
        elif call.keywords or which == "update" or spelled not in _HEADS or (tag, which) == ("deque", "insert"):
            raise self._refusal(f"`{which}`")
        if which in ("keys", "values", "items"):
            self._check_late(call)
        for one in args:
            self.marked.pop(one, None) if which == "update" else None
        made = self._calls(spelled, held, *args)
        return made if spelled in _READS else self._mark(made)

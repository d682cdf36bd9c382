"""Rows that are spread: loops over blocks of rows as functions of a block, and sums of what they give over the blocks.

What is the same for tasks of Dask and for ranks of MPI; an engine has the functions by which they differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

import gast
import numpy as np

from srcgrad.backend.text.function import cite_lines, cited_line, remark, restore_contexts, write_forward
from srcgrad.core.control_flow import live_in
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.facts import Facts
from srcgrad.core.identity import record
from srcgrad.core.printer import Comment
from srcgrad.core.trees import (
    COMPOUND,
    Block,
    Node,
    adds_to,
    at,
    copy,
    expression,
    find_nodes,
    is_write,
    loads,
    name,
    names_in,
    part_written,
    statement,
    statements,
    stores,
    target,
    walk,
    written_names,
)
from srcgrad.core.visitor import rebuild
from srcgrad.derive.program import Program, kept_alive
from srcgrad.frontend.resolve import binding_of
from srcgrad.optimise.copies import names_sharing_arrays
from srcgrad.runtime import add, add_at, row_count, zeros_like

CODE = "E5029"
_ALIKE = ("shape", "size", "ndim", "dtype")  # what a dask array tells as an array of NumPy does
_ZEROS = (np.zeros, np.zeros_like, zeros_like)
_COUNTS = (len, np.shape, np.size, np.ndim, row_count)


@record(frozen=True)
class Engine:
    """What the driver calls: it spreads arrays, runs a function on each block, and makes one of what blocks give."""

    name: str
    sharded: Callable[..., object]
    each_block: Callable[..., object]
    each_row: Callable[..., object]
    row_starts: Callable[..., object]
    total: Callable[..., object]  # by sums alone
    merged: Callable[..., object]  # by other operations as well
    same: bool = False  # whether `sharded` looks at what is not spread: several processes may have several
    own: str = ""  # what stands behind the name of a spread array for the rows that are here


def sums_over_blocks(program: Program, facts: Facts, engine: Engine) -> Program:
    """Make each loop over blocks of rows a function of a block; its sums are added up over the blocks, once."""
    if facts.module.blocks is None:
        raise DifferentiationError(
            "E5019", f"the target {engine.name} is for rows that are spread", "give shard={'x': 0}"
        )
    if facts.request.called:
        return program
    facts.tape.saved = kept_alive(program, facts) | names_sharing_arrays(program, facts)
    work = _Driver(program, facts, engine)
    for half in (program.forward, program.backward):
        for node in list(half):
            if isinstance(node, gast.For) and work.reads_rows(node):
                work.replace_loop(node, half)
    work.check_rest()
    work.begin()
    return program


@dataclass
class _Driver:
    """What runs on the caller's side, once."""

    program: Program
    facts: Facts
    engine: Engine
    made: dict[str, str] = field(default_factory=dict)  # adjoints of rows that are dask arrays by now, of what
    own: dict[Node, None] = field(default_factory=dict)  # statements that hand whole arguments to blocks
    count: int = 0  # of functions of a block

    def __post_init__(self) -> None:
        request, seeds = self.facts.request, self.facts.names.seeds if self.facts.pushes_forward else ()
        self.over = self.facts.module.blocks.over
        self.over += tuple(seed for seed, w in zip(seeds, request.wrt, strict=False) if w in self.over)
        self.locals = {s for node in statements(self.program.block) for s in stores(node)}
        self.locals |= {*self.program.parameters, *self.over, *self.facts.names.seeds}
        loops = [node for node in self.program.block if isinstance(node, gast.For) and self.reads_rows(node)]
        headers = [loop.iter.args[0] if len(loop.iter.args) == 1 else loop.iter for loop in loops]
        self.counts = {n.id for header in headers for n in header.args if isinstance(n, gast.Name)}
        self.several = len(loops) > 1
        self.stem = self.facts.source.name.removesuffix("_grad" if self.facts.request.mode == "hvp" else "")

    def engine_name(self, role: str) -> str:
        """How the text spells a function of the engine."""
        function = getattr(self.engine, role)
        return self.facts.library(function.__name__, function)

    def refuse(self, node: Node, reason: str) -> DifferentiationError:
        """The error about what cannot be done block by block."""
        place = next((one for one in (node, *walk(node)) if hasattr(one, "lineno")), self.facts.source.tree)
        return self.facts.refuse(place, CODE, reason, "write the function as a sum or mean of what each row gives")

    def reads_rows(self, loop: Node) -> bool:
        """Whether a loop reads sharded arguments."""
        return any(isinstance(n, gast.Name) and n.id in self.over for one in statements(loop.body) for n in walk(one))

    def replace_loop(self, loop: Node, half: Block) -> None:
        """Put sums over the blocks in the place of a loop over them."""
        work = _Loop(loop, self)
        made: Block = []
        if work.sums:
            made += self._sum_over_blocks(work)
        for adjoint in work.adjoints:
            made += self._adjoint_of_rows(adjoint, work)
        place = half.index(loop)
        half[place : place + 1] = [*work.hoisted, *made]
        for each in (self.program.forward, self.program.backward):
            each[:] = [node for node in each if node not in work.moved]

    def _sum_over_blocks(self, work: _Loop) -> Block:
        self.count += 1
        self.facts.reductions.append(tuple(work.sums))
        suffix = f"_{self.count}" if self.several else ""
        function, given = work.function(f"{self.stem}_block{suffix}", list(work.sums))
        into = {s: s if work.starts[s] is not None else self.facts.names.fresh(f"{s}_sum") for s in work.sums}
        blocks = self.engine_name("each_block")
        left = ", ".join(into.values()) if len(into) > 1 else f"({next(iter(into.values()))},)"
        parts = f"{blocks}({', '.join([function, *given])})"
        made = [statement(f"{left} = {self._merge(parts, work)}")]
        for held in [s for s, found in into.items() if s != found]:
            merge = self._merge_of(held, work)
            joined = f"{merge}({held}, {into[held]})" if held in work.merges else f"{held} + {into[held]}"
            made.append(statement(f"{held} = {joined}"))
        self.own[made[0]] = None
        return [*self._citation(next(iter(work.sums.values()))[0], made), *made]

    def _merge_of(self, held: str, work: _Loop) -> str:
        """The operation by which what two blocks give is made one."""
        if work.merges.get(held) is add:
            return self.facts.library("add", add)
        return f"{self.facts.library('np')}.{'maximum' if held in work.merges else 'add'}"

    def _merge(self, parts: str, work: _Loop) -> str:
        """What blocks give, added up; of peaks the greatest."""
        if not work.merges:
            return f"{self.engine_name('total')}({parts})"
        merges = ", ".join(self._merge_of(s, work) for s in work.sums)
        return f"{self.engine_name('merged')}({parts}, ({merges}{',' * (len(work.sums) == 1)}))"

    def _citation(self, node: Node, made: Block) -> Block:
        """The line of the user whose sum is taken, above it; the backward half cites its lines itself."""
        if node not in statements(self.program.forward):
            for one in made:
                at(one, node)
            return []
        line = cited_line(node, self.facts)
        return [remark(Comment(line))] if line else []

    def _adjoint_of_rows(self, adjoint: str, work: _Loop) -> Block:
        function, given = work.function(f"{self.stem}_block_{adjoint}", [adjoint])
        like, rows = work.adjoints[adjoint], self.engine_name("each_row")
        before = f"{adjoint} + " if adjoint in self.made else ""
        made = statement(f"{adjoint} = {before}{rows}({', '.join([function, like, *given])})")
        self.own[made] = None
        self.made[adjoint] = like
        return [made]

    def check_rest(self) -> None:
        """Nothing else may read the elements of sharded arguments, or of their adjoints."""
        for node in statements(self.program.block[:-1]):
            if self.engine.same and any(self._draws(part) for part in walk(node)):
                raise self.refuse(node, "random numbers are drawn, by each rank its own: take them as an argument")
            if node in self.own:
                continue
            if self._starts_adjoint(node):
                node.value = rebuild(node.value, self._spread_zeros)
                continue
            for part in walk(strip(node, self)):
                if isinstance(part, gast.Name) and part.id in self.over:
                    raise self.refuse(node, f"`{part.id}` is read outside of what is done row by row")
        result = self.program.result
        rest = rebuild(strip(result, self), lambda part: gast.Constant(0, None) if self._spread_zeros(part) else None)
        if any(isinstance(n, gast.Name) and n.id in self.over for n in walk(rest)):
            raise self.refuse(result, "the result has an entry for each row")
        self.program.result = rebuild(result, self._spread_zeros)

    def _draws(self, node: Node) -> bool:
        """Whether a name means what random numbers are drawn from."""
        if not isinstance(node, gast.Name | gast.Attribute):
            return False
        found = binding_of(node, self.facts, self.facts.names.local)
        held = None if found is None else getattr(found.object, "__self__", found.object)
        return isinstance(held, np.random.RandomState | np.random.Generator | Random)

    def _spread_zeros(self, node: Node) -> Node | None:
        """Zeros for each row as a dask array: what has no other adjoint."""
        if not isinstance(node, gast.Call) or not any(self.function_of(node.func) is one for one in _ZEROS):
            return None
        held = getattr(node.args[0], "id", "")
        rows = self.made.get(held, held)
        if rows not in self.over:
            return None
        return expression(f"{self.facts.library('np')}.zeros_like({rows}{self.engine.own})")

    def _starts_adjoint(self, node: Node) -> bool:
        return node in self.facts.tape.zeros and isinstance(node, gast.Assign)

    def begin(self) -> None:
        """The sharded arguments as dask arrays with the same chunks, before anything else."""
        given = ", ".join(self.over)
        for half in (self.program.forward, self.program.backward):
            half[:] = [node for node in half if not self._is_unread(node)]
        left = given if len(self.over) > 1 else f"({given},)"
        rows = self.facts.module.blocks.chunks
        words = f", rows={rows}" if rows is not None else ""
        others = [p for p in self.program.parameters if p not in self.over] if self.engine.same else []
        words += f", same=[{', '.join(others)}]" if others else ""
        made = statement(f"{left} = {self.engine_name('sharded')}({given}{words})")
        self.program.forward.insert(0, made)

    def _is_unread(self, node: Node) -> bool:
        """Whether a statement binds how many rows there are, or are taken, for nobody."""
        bound = target(node)
        if bound is None or bound not in self.counts or getattr(node.value, "keywords", None):
            return False
        return not any(bound in loads(one) for one in statements(self.program.block))

    def is_count(self, node: Node) -> bool:
        """Whether an expression asks for shapes or dtypes of sharded arguments alone."""
        if isinstance(node, gast.Attribute):
            return node.attr in _ALIKE and getattr(node.value, "id", "") in self.over
        if not isinstance(node, gast.Call) or not node.args:
            return False
        masks = [one for word in node.keywords if word.arg == "masks" for one in word.value.elts]
        named = all(getattr(one, "id", "") in self.over for one in [*node.args, *masks])
        if node.keywords and (not masks or self.function_of(node.func) is not row_count):
            return False
        return named and any(self.function_of(node.func) is one for one in _COUNTS)

    def function_of(self, node: Node) -> object:
        """The function that a name of the text means."""
        spelled = {found: identifier for identifier, found in self.facts.names.imports.items()}
        if getattr(node, "id", "") in spelled:
            return self.facts.names.library_values.get(spelled[node.id])
        if isinstance(node, gast.Attribute) and getattr(node.value, "id", "") in spelled:
            return getattr(np, node.attr, None) if spelled[node.value.id] == "np" else None
        found = binding_of(node, self.facts, self.facts.names.local)
        return None if found is None else found.object


def strip(node: Node, work: _Driver) -> Node:
    """A statement without what asks for shapes and dtypes of sharded arguments."""
    return rebuild(copy(node), lambda part: gast.Constant(0, None) if work.is_count(part) else None)


class _Loop:
    """A loop over blocks of rows: what it adds up, and what it stores for each row."""

    def __init__(self, loop: Node, driver: _Driver) -> None:
        self.loop, self.driver, self.facts = loop, driver, driver.facts
        header = loop.iter.args[0] if getattr(loop.iter.func, "id", "") == "reversed" else loop.iter
        if getattr(header.func, "id", "") != "range" or len(header.args) != 3:
            raise driver.refuse(loop, "a loop of another kind reads the rows")
        self.first, self.step = loop.target.id, gast.unparse(header.args[2])
        self.sums: dict[str, Block] = {}
        self.merges: dict[str, object] = {}  # how two of them are made one, where it is not their sum
        self.adjoints: dict[str, str] = {}  # of rows -> the argument
        self.stacks: dict[str, Node] = {}  # filled and emptied within a trip -> where they begin
        self.moved: dict[Node, None] = {}  # statements that stand in functions of a block
        self.hoisted: Block = []
        self.known: dict[str, str] = {}  # what is hoisted -> its name
        self._find_results()
        self.starts = {s: self._start(s) for s in self.sums}
        self.body = [self._hoist(node) for node in loop.body]
        self._check_reads()

    def _find_results(self) -> None:
        bound = {s for node in statements(self.loop.body) for s in stores(node)}
        carried = [one for one in live_in(self.loop.body) if one in bound]
        for held in carried:
            touching = [n for n in statements(self.loop.body) if held in stores(n) or held in loads(n)]
            if all(self._is_store(node, held) for node in touching):
                self.adjoints[held] = self._argument_of(held, touching[0])
            elif all(adds_to(node, held, self._scatters) for node in touching):
                self.sums[held] = touching
            elif all(self._is_peak(node, held) for node in touching):
                self.sums[held] = touching
                self.merges[held] = np.maximum
            elif all(self._is_nested(node, held) for node in touching):
                self.sums[held] = touching
                self.merges[held] = add
            elif all(self._is_recording(node) for node in touching) and (start := self._empty_stack(held)):
                self.stacks[held] = start
                self.moved[start] = None
            elif steady := [n for n in touching if held in stores(n) and self._is_steady(n)]:
                self.loop.body.insert(0, copy(steady[0]))
            else:
                raise self.driver.refuse(touching[0], f"`{held}` is carried from row to row")

    def _scatters(self, call: Node) -> bool:
        return self.driver.function_of(call.func) is add_at and not call.keywords

    def _is_peak(self, node: Node, held: str) -> bool:
        """`s = np.maximum(s, e)`, `reached[k] = True`, where e and k do not read s."""
        value = getattr(node, "value", None)
        if is_write(node) and isinstance(node, gast.Assign) and isinstance(value, gast.Constant):
            return value.value is True and held not in names_in(part_written(node).slice)
        if target(node) != held or not isinstance(value, gast.Call) or len(value.args) != 2:
            return False
        peak = self.driver.function_of(value.func) is np.maximum and not value.keywords
        return peak and getattr(value.args[0], "id", "") == held and held not in names_in(value.args[1])

    def _is_nested(self, node: Node, held: str) -> bool:
        """`bars[k] = add(bars[k], e)` of a list, or of what else holds arrays, where e and k do not read it."""
        value = getattr(node, "value", None)
        if not is_write(node) or not isinstance(value, gast.Call) or self.driver.function_of(value.func) is not add:
            return False
        same = gast.unparse(value.args[0]) == gast.unparse(part_written(node))
        return same and held not in names_in(part_written(node).slice) | names_in(value.args[1])

    def _is_steady(self, node: Node) -> bool:
        """Whether a statement alone binds a name, in all trips of all loops to the same."""
        inner = statements(self.loop.body)
        changed = {s for one in inner for s in [*written_names(one), *([] if one is node else stores(one))]}
        return target(node) is not None and not changed & {target(node), *loads(node)}

    def _is_recording(self, node: Node) -> bool:
        """Whether a statement puts a value on a stack, or takes it from there: `if taken_stack.pop():`."""
        return bool(_tested(node)) or node in self.facts.tape.pushes or node in self.facts.tape.restores

    def _empty_stack(self, held: str) -> Node | None:
        """`h_stack = []`, where nothing else of the caller's side knows the stack."""
        others = [n for n in statements(self.driver.program.block) if held in stores(n) or held in loads(n)]
        others = [n for n in others if n not in statements(self.loop.body)]
        empty = (
            len(others) == 1 and isinstance(getattr(others[0], "value", None), gast.List) and target(others[0]) == held
        )
        return others[0] if empty and not others[0].value.elts else None

    def _is_store(self, node: Node, held: str) -> bool:
        """`x_bar[first : first + rows] += e`, where e does not read x_bar."""
        if not is_write(node) or held in names_in(node.value):
            return False
        return self._is_part(part_written(node), held)

    def _is_part(self, node: Node, held: str) -> bool:
        return gast.unparse(node) == gast.unparse(expression(f"{held}[{self.first} : {self.first} + {self.step}]"))

    def _argument_of(self, adjoint: str, node: Node) -> str:
        """The argument whose adjoint it is: that of which it has the shape."""
        for start in self._before(adjoint):
            read = [one for one in loads(start) if one in self.driver.over]
            if self._is_zeros(start) and len(read) == 1:
                self.moved[start] = None
                return read[0]
        if adjoint in self.driver.made:
            return self.driver.made[adjoint]
        raise self.driver.refuse(node, f"`{adjoint}` is no adjoint of a sharded argument")

    def _before(self, held: str) -> Block:
        """The statements before the loop that bind or change a name."""
        order = self.driver.program.block
        return [n for n in order[: order.index(self.loop)] if any(held in stores(one) for one in statements([n]))]

    def _start(self, held: str) -> Node | None:
        """The zeros that a sum starts with, if nothing else is added before the loop."""
        before = self._before(held)
        if len(before) != 1 or target(before[0]) != held or set(loads(before[0])) & {*self.driver.over, *self.sums}:
            return None
        order = self.driver.program.block
        if any(held in loads(one) for one in statements(order[: order.index(self.loop)])):
            return None
        value = before[0].value
        zero = (isinstance(value, gast.Constant) and value.value == 0) or self._is_zeros(before[0])
        if self.merges.get(held) is np.maximum:
            zero = isinstance(value, gast.UnaryOp) and getattr(value.operand, "attr", "") == "inf"
        if not zero:
            return None
        self.moved[before[0]] = None
        return before[0]

    def _is_zeros(self, node: Node) -> bool:
        """Whether a statement binds zeros."""
        value = getattr(node, "value", None)
        made = isinstance(value, gast.Call) and any(self.driver.function_of(value.func) is one for one in _ZEROS)
        return made or node in self.facts.tape.zeros

    def _hoist(self, node: Node) -> Node:
        """A statement in which the number of all rows is not that of a block."""

        def found(part: Node) -> Node | None:
            shape = part.value if isinstance(part, gast.Subscript) else None
            axis = getattr(part.slice, "value", 0) if shape is not None else 0
            if shape is not None and self.driver.is_count(shape) and isinstance(axis, int) and axis > 0:
                return copy(part)  # of a block it is the same
            if not self.driver.is_count(part):
                return None
            return name(self._known(gast.unparse(part)))

        if self._reads_first(node):
            begins = self._known(f"{self.driver.engine_name('row_starts')}({self.driver.over[0]})", "begins")
            node = rebuild(node, lambda part: self._among_all(part, begins))
        if not any(self.driver.is_count(part) for one in statements([node]) for part in walk(one)):
            return node
        return rebuild(node, found)

    def _known(self, text: str, wanted: str = "known") -> str:
        """The name that is bound, before the sums over blocks, to what a block cannot tell."""
        if text not in self.known:
            held = self.known[text] = self.facts.names.fresh(wanted)
            self.driver.locals.add(held)
            self.hoisted.append(statement(f"{held} = {text}"))
            self.driver.own[self.hoisted[-1]] = None
        return self.known[text]

    def _reads_first(self, node: Node) -> bool:
        """Whether a statement reads the number of a block's first row, its part of the rows apart."""
        whole = rebuild(copy(node), lambda part: gast.Constant(0, None) if self._is_rows(part) else None)
        return any(self.first in loads(one) for one in statements([whole]))

    def _is_rows(self, node: Node) -> bool:
        held = getattr(getattr(node, "value", None), "id", "") if isinstance(node, gast.Subscript) else ""
        return bool(held) and self._is_part(node, held)

    def _among_all(self, node: Node, begins: str) -> Node | None:
        """The number of a row of a block, as that among all rows."""
        if self._is_rows(node):
            return copy(node)
        return expression(f"{begins}.item() + {self.first}") if getattr(node, "id", "") == self.first else None

    def _check_reads(self) -> None:
        for node in statements(self.body):
            parts = [n for n in find_nodes(node, gast.Name) if n.id in self.driver.over]
            if not parts or (target(node) and self._is_part(node.value, parts[0].id)):
                continue
            stripped = rebuild(strip(node, self.driver), self._without_part)
            if any(isinstance(n, gast.Name) and n.id in self.driver.over for n in walk(stripped)):
                raise self.driver.refuse(node, f"`{parts[0].id}` is read, and not by blocks")

    def _without_part(self, node: Node) -> Node | None:
        """What stands for the rows of a block, where no more than what reads all rows is looked for."""
        held = getattr(getattr(node, "value", None), "id", "") if isinstance(node, gast.Subscript) else ""
        return gast.Constant(0, None) if held in self.driver.over and self._is_part(node, held) else None

    def function(self, wanted: str, results: list[str]) -> tuple[str, list[str]]:
        """The function of a block that gives these results, in the text, and what it takes."""
        made = self.facts.names.fresh(self.facts.module.names.fresh(wanted))
        others = {*self.sums, *self.adjoints} - set(results)
        loop = gast.For(self.loop.target, None, _needed(self.body, results, others, self.facts), [], None)
        bound = {s for node in statements(loop.body) for s in (*stores(node), *written_names(node))}
        for held in [one for one in live_in(loop.body) if one in bound - {*results, *self.stacks}]:
            raise self.driver.refuse(self.loop, f"`{held}` is carried from row to row")
        over = [one for one in self.driver.over if one in _all_names(loop.body)]
        loop.iter = expression(f"range(0, max(len({over[0]}), 1), {self.step})")
        kept = [copy(start) for held, start in self.stacks.items() if held in _all_names(loop.body)]
        starts = [*self._steps(), *kept, *(self._zeros(held) for held in results)]
        given = [p for p in self._taken([*starts, loop]) if p not in over]
        loop.body = self._printed(loop.body)
        result = statement(f"return ({', '.join(results)}{',' if len(results) == 1 else ''})")
        if results[0] in self.adjoints:
            result = statement(f"return {results[0]}")
        parameters = [*over, *given]
        definition = statement(f"def {made}({', '.join(parameters)}):\n    pass")
        definition.body = [remark(self._title(results)), *starts, loop, result]
        self.facts.module.add_kernel(definition, self.facts)
        return made, parameters

    def _steps(self) -> Block:
        """How many rows are taken at a time."""
        return [copy(node) for node in self._before(self.step)] if self.step.isidentifier() else []

    def _zeros(self, held: str) -> Node:
        if held in self.adjoints:
            return statement(f"{held} = {self.facts.library('np')}.zeros_like({self.adjoints[held]})")
        start = self.starts[held]
        if start is None and any(is_write(node) or isinstance(node, gast.Expr) for node in self.sums[held]):
            return statement(f"{held} = {self.facts.library('np')}.zeros_like({held})")
        return statement(f"{held} = 0") if start is None else copy(start)

    def _taken(self, block: Block) -> list[str]:
        """The names of the caller's side that a block reads, in the order of the text."""
        return [one for one in live_in(block) if one in self.driver.locals]

    def _printed(self, block: Block) -> Block:
        backward = self.loop in self.driver.program.backward
        made = cite_lines(block, self.facts) if backward else write_forward(block, self.facts)
        return restore_contexts(made, self.facts.origin.contexts)

    def _title(self, results: list[str]) -> str:
        rows = ", ".join(self.driver.over)
        if results[0] in self.adjoints:
            return f"The rows of {results[0]} for a block of the rows of {rows}."
        return f"What a block of the rows of {rows} adds to {', '.join(results)}."


def _all_names(block: Block) -> set[str]:
    return {one for node in statements(block) for one in names_in(node)}


def _needed(block: Block, results: list[str], others: set[str], facts: Facts) -> Block:
    """The statements of a trip without which these results would be others: trips need nothing of each other.

    What is added to other results is left out, in branches and inner loops as well.
    """
    live, kept = set(results), list[Node]()
    for node in reversed(block):
        inner = [one for one in statements([node]) if not _adds_to(one, others)]
        if live & {s for one in inner for s in stores(one)}:
            kept.insert(0, node)
            whole = target(node) is not None and not is_write(node)
            live -= {str(target(node))} if whole else set()
            live |= {read for one in inner for read in loads(one)}
    emptied = {facts.tape.restores.get(n) or _tested(n) for n in statements(kept)}
    return _own_copy(kept, emptied, others, facts)


def _adds_to(node: Node, others: set[str]) -> bool:
    return not isinstance(node, COMPOUND) and bool(others & {*stores(node), *written_names(node)})


def _tested(node: Node) -> str:
    """The stack of which a branch takes its condition: `if taken_stack.pop():`."""
    called = getattr(node.test, "func", None) if isinstance(node, gast.If) else None
    held = called.value if isinstance(called, gast.Attribute) and called.attr == "pop" else None
    return held.id if isinstance(held, gast.Name) else ""


def _own_copy(block: Block, emptied: set[str], others: set[str], facts: Facts) -> Block:
    """A block whose compound statements may be changed, without what is put on stacks from which nothing is taken."""
    made: Block = []
    for node in block:
        if _adds_to(node, others) or (node in facts.tape.pushes and facts.tape.pushes[node] not in emptied):
            continue
        if isinstance(node, COMPOUND):
            node, old = at(type(node)(**{key: getattr(node, key, None) for key in node._fields}), node), node
            node.body = _own_copy(old.body, emptied, others, facts) or [gast.Pass()]
            node.orelse = _own_copy(getattr(old, "orelse", None) or [], emptied, others, facts)
            facts.origin.again_written.update({node: None} if old in facts.origin.again_written else {})
            facts.origin.user.update({node: facts.origin.user[old]} if old in facts.origin.user else {})
        made.append(node)
    return made

"""What is known of one function on its way through the passes: side tables, keyed by node or by name.

Names in generated text (adjoints, tangents, stacks, temporaries) are fresh and never in the user's way. What a name
or a call of the text means is the object that it is bound to, never how it is spelled.
"""

from __future__ import annotations

import keyword
from collections import Counter
from collections.abc import Container, ItemsView, Iterable, Iterator, ValuesView
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, fields, replace
from typing import Any  # operations are arbitrary Python objects

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.core.bindings import Binding, attribute
from srcgrad.core.errors import DifferentiationError, Place
from srcgrad.core.identity import record
from srcgrad.core.namespace import Namespace, Overlay
from srcgrad.core.original_libraries import original
from srcgrad.core.rules import Rule
from srcgrad.core.source_text import Source, place_in
from srcgrad.core.trees import UNDECIDED, Node, find_nodes, literal_of, literal_value, name, remade

LOOP = "srcgrad.checkpointed"  # marks the header of a checkpointed loop until the normal form is reached


class Names:
    """Hands out names that are not yet taken; on a clash a name gets a trailing underscore.

    >>> names = Names({"x", "x_bar"})
    >>> names.fresh("x_bar"), names.fresh("x_bar"), names.fresh("w_bar")
    ('x_bar_', 'x_bar__', 'w_bar')
    """

    __slots__ = ("last_numbers", "taken")

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)
        self.last_numbers: dict[str, int] = {}  # stem -> the last number it was given: names are not handed back

    def fresh(self, name: str) -> str:
        """The name itself if it is free, otherwise the name with underscores; taken from now on."""
        while name in self.taken or keyword.iskeyword(name):
            name += "_"
        self.taken.add(name)
        return name

    def numbered_name(self, stem: str) -> str:
        """The first free of stem_1, stem_2, ...; taken from now on.

        >>> Names({"p"}).numbered_name("p")
        'p_1'
        """
        number = self.last_numbers.get(stem, 0) + 1
        while f"{stem}_{number}" in self.taken:
            number += 1
        self.last_numbers[stem] = number
        self.taken.add(f"{stem}_{number}")
        return f"{stem}_{number}"


def bar(name: str) -> str:
    """The name of an adjoint."""
    return name + "_bar"


def dot(name: str) -> str:
    """The name of a tangent."""
    return name + "_dot"


def stack(name: str) -> str:
    """The name of the stack on which values are recorded, one per trip."""
    return name + "_stack"


@record(frozen=True)
class Kind:
    """What is known of an argument before it is seen: nothing, a number, an array of some rank, a container."""

    tag: str = "unknown"  # unknown, scalar, array, tuple, list, dict, function, object, none, other
    ndim: int | None = None
    items: tuple[tuple[Any, Kind], ...] = ()
    owner: Any = None  # the class of a NamedTuple
    dtype: str = field(default="", compare=False)  # float16, or integer for an array of integers or booleans
    complex: bool = False  # whether it is, or holds, a complex number
    shape: tuple[str, ...] | None = None  # the lengths of the axes as symbols or digits, where they are declared
    single: bool = field(default=False, compare=False)  # whether its example is of a narrower dtype than float64


UNKNOWN = Kind()
Kinds = dict[str, Kind]
SCALAR = Kind("scalar", 0)


@record(frozen=True)
class LeadingAxes:
    """Whether tangents, or adjoints, have a leading axis: one entry for each direction.

    `remark` is a sentence for the docstring, `output` what the output is, where that is known from running the text.
    With `regroup`, products may be in another order; `fewer` are arguments that are indices of rows, each with the
    axes of others that are of one length, and have at least as many rows as it has entries.
    """

    axis: bool = False
    remark: str = ""
    output: Kind | None = None
    regroup: bool = False
    fewer: tuple[tuple[str, tuple[tuple[str, int], ...]], ...] = ()


ALONE = LeadingAxes()
MANY = LeadingAxes(True)


@record(frozen=True)
class PullbackForm:
    """How a derivative is called by another function of the text."""

    apart: bool = False  # whether there is a seed for each item of a returned tuple
    takes_masks: tuple[int, ...] = ()  # places of seeds, or tangents, of which it is told where they are zero
    gives_masks: tuple[str, ...] = ()  # parameters of whose adjoints it says so, or RESULT: of whose tangent


PLAIN = PullbackForm()
RESULT = "return"  # stands in forward mode where the names of parameters stand in reverse mode


@record(frozen=True)
class Operation:
    """What an expression computes: an op of the table, a function with source, or something opaque.

    `function` is the op itself or the called function; `bound` maps the op's parameters to argument trees.
    """

    kind: str  # op, callee, opaque
    function: Any
    rule: Rule | None = None
    bound: dict[str, Node] = field(default_factory=dict)
    checkpointed: bool = False  # whether a call records its arguments alone


@record(frozen=True)
class Spec:
    """Shape and dtype of a value, as the set of unknowns that broadcasting joins; rank where it is known.

    Two values with equal `shape` sets have equal shapes; with equal `dtype` sets, equal dtypes.
    """

    shape: frozenset[str] = frozenset()
    dtype: frozenset[str] = frozenset()
    ndim: int | None = 0
    extents: tuple[str, ...] | None = field(default=None, compare=False)  # the lengths of its axes, as symbols
    parts: frozenset[tuple[str, ...]] = field(default=frozenset(), compare=False)  # extents of some joined values
    length: str | None = None  # of an integer that is the length of an axis: that length

    @property
    def scalar(self) -> bool:
        """Whether the value is known to have shape ()."""
        return self.ndim == 0


@record(frozen=True)
class Record:
    """A value that the forward half keeps: how it is spelled, in which line, and the lines that need it."""

    value: str
    line: int
    needed: tuple[int, ...]


@record(frozen=True)
class Request:
    """What is asked for; it does not change while passes run."""

    mode: str
    wrt: tuple[str, ...]
    single: bool = True  # whether one adjoint is returned as it is, not as a tuple of one
    step: Any = None  # the core.namespace.Step whose function this is
    inner: tuple[str, ...] = ()  # names in wrt that are local variables
    called: bool = False  # whether another function of the text calls this one
    placed: bool = False  # written out in its caller, whose lists and arrays it gets
    handed: PullbackForm = PLAIN  # how that calls its pullback
    seed: str = "given"  # parameter, given (without default), one, ones: where the seed comes from
    auxiliary: bool = False  # whether the function returns a pair of which only the first has a derivative
    generated: bool = False  # whether the source is a text of ours: stacks and element updates are accepted
    asked: tuple[str, ...] = ()  # wrt behind the proof that rows are treated by themselves, before which it is wider
    by_rows: bool = False  # whether a row of the value depends on that of its argument alone, and is long to make


@dataclass(slots=True)
class FunctionNames(Names):
    """Names of one function's text: what is taken, what they stand for, how library names are spelled."""

    taken: set[str] = field(default_factory=set)
    last_numbers: dict[str, int] = field(default_factory=dict)
    base: dict[str, str] = field(default_factory=dict)  # renamed web -> the user's name
    temporaries: dict[str, str] = field(default_factory=dict)  # names made by normalise -> their stem
    spelled: dict[str, str] = field(default_factory=dict)  # primal -> name of its adjoint
    adjoint_of: dict[str, str] = field(default_factory=dict)  # name of an adjoint -> its primal
    globals_as: dict[str, str] = field(default_factory=dict)  # name in the text -> the user's global name
    nobody: str = ""  # name for what nobody reads, once it is needed
    local: frozenset[str] = frozenset()  # names that the user's function binds
    around: frozenset[str] = frozenset()  # names of the functions in which the user's function stands
    imports: dict[str, str] = field(default_factory=dict)  # library name -> how the text spells it
    library_values: dict[str, object] = field(
        default_factory=dict
    )  # library name -> module or function, or where it is
    functions: dict[str, Any] = field(default_factory=dict)  # local name -> frontend.calls.functions.Function
    steady: set[str] = field(
        default_factory=set
    )  # names of what functions that make others have read, one for each call
    opposites: dict[str, None] = field(default_factory=dict)  # names made for adjoints that hold their negatives
    meant: dict[str, str] = field(default_factory=dict)  # temporaries -> words for what they hold
    plurals: dict[str, str] = field(default_factory=dict)  # list of one value per trip -> the name of that value
    back: str = ""  # name of the pullback
    seeds: tuple[str, ...] = ()

    def new_local(self, stem: str) -> str:
        """A fresh name that the function binds."""
        fresh = self.fresh(stem)
        self.local |= {fresh}
        return fresh

    def new_temporary(self) -> str:
        """A fresh name for the value of a subexpression."""
        fresh = self.fresh(f"t{len(self.temporaries) + 1}")
        self.temporaries[fresh] = "t"
        return fresh

    def of_result(self) -> str:
        """What the value of a function is called that has no name: y, or result, where the function has a y."""
        return "result" if "y" in self.taken else "y"


@record
class Origin:
    """What statements come from: the user's statements, the text, the lines."""

    user: dict[Node, Node] = field(default_factory=dict)  # normal statement -> user's statement
    text: dict[Node, Node] = field(default_factory=dict)  # user's statement -> its tree as it was written
    foreign: dict[Node, None] = field(default_factory=dict)  # statements that are not as the user wrote them
    plain: dict[Node, Node] = field(default_factory=dict)  # `a += e` -> its spelling `a = a + e`
    number: dict[Node, int] = field(default_factory=dict)  # statement -> its place in the text, from 0
    lines: dict[int, dict[str, None]] = field(default_factory=dict)  # line -> `active`, or why it is not
    rewritten: dict[Node, None] = field(default_factory=dict)  # user's statements with calls of callees changed
    mention: dict[tuple[int, str], int] = field(default_factory=dict)  # (line, name) -> place among its operands
    joined: dict[Node, int] = field(default_factory=dict)  # adjoint written into another line -> the line of its own
    again_written: dict[Node, None] = field(default_factory=dict)  # forward statements in the backward half
    instead: dict[Node, object] = field(
        default_factory=dict
    )  # calls in a text of ours -> what they are (frontend.again.lengths)
    augmented: dict[Node, None] = field(default_factory=dict)  # assignments that were `a += e`
    updates: dict[Node, None] = field(default_factory=dict)  # `d[k] = d[k] + e` that were `d[k] += e`
    contexts: list[Node] = field(default_factory=list)  # `with np.errstate(...)` around statements of the user
    entered: dict[Node, None] = field(default_factory=dict)  # those of them that the backward half does not enter
    lambdas: dict[Node, None] = field(default_factory=dict)  # functions that stand inside: those of hooks


@record
class KnownKinds:
    """What arguments, names and expressions are: numbers, arrays, containers, objects."""

    of_names: dict[str, Kind] = field(default_factory=dict)
    of_expressions: dict[Node, Kind] = field(default_factory=dict)  # of the user's text (frontend.kinds)
    named: dict[str, Kind] = field(default_factory=dict)  # of arguments that are written out, then of all names there
    mixed: dict[str, None] = field(default_factory=dict)  # names of tuples that hold numbers or arrays elsewhere
    containers: dict[str, str] = field(default_factory=dict)  # names that hold a tuple, list or dict -> which
    lists: dict[str, str] = field(default_factory=dict)  # the user's names of lists and dicts made here -> which
    displays: dict[str, list[Node]] = field(default_factory=dict)  # name of a dict -> the statements that make it
    records: dict[str, Any] = field(default_factory=dict)  # name of a dict that stands for an object -> its class
    apart: dict[type, None] = field(default_factory=dict)  # classes whose objects are dicts or tuples in this text
    gives: tuple[type | None, Node] | None = (
        None  # the class of the object that the function returns, and where it does
    )
    parted: dict[str, None] = field(default_factory=dict)  # lists and dicts of which each part is active or not
    tuples: dict[str, tuple[Spec, ...]] = field(default_factory=dict)  # names that hold a callee's tuple
    ranks: dict[str, int] = field(default_factory=dict)  # arguments that are arrays of real numbers -> axes
    arguments: dict[str, Kind] = field(default_factory=dict)  # what callers pass, in the text's own names


@record
class Resolution:
    """What expressions call, and what calls do beside their value."""

    operation: dict[Node, Operation] = field(default_factory=dict)  # by expression node
    effects: dict[Node, None] = field(default_factory=dict)  # calls that report: print, warnings
    moving: dict[Node, None] = field(default_factory=dict)  # statements after which a call gives something else
    checked: dict[Node, None] = field(default_factory=dict)  # bindings whose value is looked at: it must be a number
    apart: dict[Node, None] = field(default_factory=dict)  # bindings whose value is looked at: it shows no argument
    kept: dict[Node, None] = field(default_factory=dict)  # bindings of what `functools.cache` holds as well
    copies: dict[Node, None] = field(default_factory=dict)  # `x = owned(x, ...)`: an argument that is written into
    entered: dict[str, Node] = field(default_factory=dict)  # ... such arguments, by name, with a statement that writes
    doubtful: Node | None = None  # a write of the user's, where no text of ours may be written out
    results: dict[Node, None] = field(default_factory=dict)  # names read for the new value of a statement


@record
class Activity:
    """Which names depend on an input and influence the output, and where names are bound and read."""

    varied: dict[str, None] = field(default_factory=dict)  # names that may depend on an input
    active: dict[str, None] = field(default_factory=dict)  # ... and influence the output
    branch_depth: dict[str, int] = field(default_factory=dict)  # of our own names that a branch binds: see `active`
    indexed: dict[str, None] = field(default_factory=dict)  # active names of which parts are read
    summed: dict[str, None] = field(default_factory=dict)  # active names that may be lists: Python's sum reads them
    reads: dict[str, int] = field(default_factory=dict)  # how often a name is read
    definition: dict[str, Node] = field(default_factory=dict)  # name bound once -> its statement
    rebound: dict[str, None] = field(default_factory=dict)  # names bound in several places or in a loop
    lasting: dict[str, None] = field(default_factory=dict)  # names that a loop reads and does not bind
    narrowed: dict[Node, None] = field(default_factory=dict)  # `g[:, 0]` that takes off an axis of length 1
    left_over: bool = False  # whether a pass has left statements that nothing needs, since dead code was dropped


@record
class Values:
    """Shapes, dtypes and ranges of values."""

    spec: dict[Node, Spec] = field(default_factory=dict)  # by Name node, and by assignment for its result
    part_spec: dict[Node, Spec] = field(default_factory=dict)  # `a[i] = e` -> what is known of a[i]
    value_spec: dict[str, Spec] = field(default_factory=dict)  # by name, what holds of all its values
    complex: dict[str, None] = field(default_factory=dict)  # names some value of which may be complex
    unsigned: dict[str, None] = field(default_factory=dict)  # temporaries of ours that may hold integers
    integers: dict[str, None] = field(default_factory=dict)  # names that hold an int: counters of loops, lengths
    counting: dict[str, None] = field(default_factory=dict)  # ... those that loops bind, and bind again going back
    counters: frozenset[str] = frozenset()  # counters of loops over `range` that nothing else binds
    constants: frozenset[str] = frozenset()  # these, and names that mean one value wherever they are read
    assumed_real: dict[str, None] = field(default_factory=dict)  # arguments of derivatives that were written out
    expected_real: dict[str, None] = field(default_factory=dict)  # arguments that the text takes for real numbers
    outcome: Any = (
        None  # of a text with a leading axis: what its value is, and what has the axis (backend.batched.values.Value)
    )


@record
class Memory:
    """What is written into, what may share memory."""

    mutable: dict[str, None] = field(default_factory=dict)  # arrays that the function writes into
    added_to: dict[str, None] = field(default_factory=dict)  # arrays that `add_at` changes
    views: dict[str, str | None] = field(default_factory=dict)  # names that may be views of these, or of one array
    viewed: dict[str, None] = field(default_factory=dict)  # temporaries that may be, and are taken again where read
    holding: dict[str, None] = field(default_factory=dict)  # lists and dicts that may hold such arrays, and their items
    swapped: dict[str, dict[str, None]] = field(default_factory=dict)  # array -> arrays with which it changes places
    elements: dict[str, None] = field(default_factory=dict)  # adjoints that are added to in place
    if_list: dict[str, str] = field(default_factory=dict)  # arguments -> what a list would be (derive.arguments)
    taken: dict[str, str] = field(default_factory=dict)  # names asked as arrays; then arguments -> what looks at them
    integers: dict[tuple[str, ...], None] = field(default_factory=dict)  # arguments of which not all may be integers
    of_result: list[tuple[str, ...]] | None = None  # the same for the result to be one of floats


@record
class DerivedCalls:
    """Derivatives that the text calls, and the loops of which few states are kept."""

    callees: dict[object, object] = field(default_factory=dict)  # derivative functions that the text needs
    named: dict[str, None] = field(default_factory=dict)  # ... and the names of those of this output that it calls
    backs: dict[Node, str] = field(default_factory=dict)  # call of a callee -> name of its pullback
    recomputed: dict[Node, str] = field(default_factory=dict)  # ... that is made backwards -> name of its derivative
    checkpointed: dict[Node, Node] = field(default_factory=dict)  # loop of which few states are kept -> its slots
    steps: dict[Node, Node] = field(default_factory=dict)  # statement that takes a trip's results -> that loop
    snapshots: dict[str, Node] = field(default_factory=dict)  # name of a loop's snapshots -> that loop
    pulled: dict[Node, list[Node]] = field(default_factory=dict)  # call of a callee -> its active operands
    looked_up: dict[Node, tuple[Node, list[Node]]] = field(
        default_factory=dict
    )  # call of what only a run knows -> that, and `wrt=`
    fills: dict[Node, str] = field(default_factory=dict)  # call of a forward half -> what it keeps values in
    callee_seeds: dict[Node, tuple[str, ...]] = field(default_factory=dict)  # call -> names of its tangents, or seeds
    derived: dict[Node, tuple[str, Kinds]] = field(default_factory=dict)  # ... its derivative, and kinds of arguments
    mask_seeds: tuple[str, ...] = ()  # the last of these: where the others are zero by structure
    output: Node | None = None  # the statement that returns, once the backward half is made
    zeroing: dict[str, None] = field(default_factory=dict)  # arguments whose adjoints are zero by structure somewhere


@record
class Tape:
    """What the forward half records, and what the backward half makes of it."""

    pops: Counter[str] = field(default_factory=Counter)  # stack -> in how many places it is popped
    stacks: dict[str, str] = field(default_factory=dict)  # name -> the stack on which it is recorded
    saved: dict[str, None] = field(default_factory=dict)  # names some value of which is recorded
    restores: dict[Node, str] = field(default_factory=dict)  # `h = h_stack.pop()` -> the stack
    pushes: dict[Node, str] = field(default_factory=dict)  # `h_stack.append(h)`, `h_stack = []` -> the stack
    whiles: dict[Node, Node] = field(default_factory=dict)  # backward form of a `while` -> the loop
    again: dict[str, str] = field(default_factory=dict)  # name computed backwards -> name of what was not recorded
    recorded: dict[str, Record] = field(default_factory=dict)  # stack or second name -> what it keeps, and why
    kept: tuple[Any, ...] = ()  # what the pullback keeps, if it is asked for (derive.recording.SavedValue)
    fresh_copies: list[Node] = field(default_factory=list)  # head of a pullback
    accumulators: dict[Node, tuple[str, ...]] = field(default_factory=dict)  # `s = s + e` in a loop -> s
    zeros: dict[Node, None] = field(default_factory=dict)  # `x_bar = zeros`
    accumulates: dict[Node, None] = field(default_factory=dict)  # `x_bar = x_bar + e`
    reduced: dict[Node, None] = field(default_factory=dict)  # contributions that broadcasting may have widened
    whole: dict[str, None] = field(default_factory=dict)  # adjoints that need no reduction
    probes: list[Any] = field(default_factory=list)  # of a trace: what each probe watches (derive.probes.Place)
    tangents: dict[Node, None] = field(default_factory=dict)  # statements of forward mode


@record
class Idioms:
    """Where values may be inf or nan, and masks of what is zero by structure."""

    shifts: dict[str, None] = field(default_factory=dict)  # largest values on which the output does not depend
    doubts: dict[str, None] = field(default_factory=dict)  # names some value of which may be inf or nan
    floors: dict[str, float] = field(default_factory=dict)  # names -> a number of at least 0 below which no value is
    least: dict[str, float] = field(default_factory=dict)  # ... of all values, those that may be inf among them
    masked: dict[str, bool] = field(default_factory=dict)  # names whose adjoints want masks; whether made as a whole
    singled: dict[str, None] = field(default_factory=dict)  # arrays whose pieces begin no mask: elements, or all of it
    covered: dict[str, None] = field(default_factory=dict)  # ... all of it, unless a piece comes with a mask
    sought: dict[str, None] = field(default_factory=dict)  # names whose tangents meet a factor that may not be finite
    supports: dict[str, Any] = field(default_factory=dict)  # of these, masks of the tangents that are zero by structure
    supported: dict[str, str] = field(default_factory=dict)  # ... others: the name of what is nan where one may not be
    zeroed: dict[Node, int] = field(default_factory=dict)  # statement -> how many zeros its tangent has
    outcome: tuple[int, int, bool] = (0, 0, False)  # of a callee: zeros of its tangent (derive.tangent_masks.Outcome)
    needed: dict[Node, Any] = field(default_factory=dict)  # statement -> where its tangent is needed, what that takes
    later: dict[Node, Node] = field(default_factory=dict)  # statement -> the one behind which its tangent stands
    chosen: dict[tuple[str, bool, str], bool] = field(default_factory=dict)  # answers of derive.masks, by condition
    elsewhere: dict[tuple[str, str], object] = field(default_factory=dict)  # ... the number that a name is where none


@record
class Facts:
    """Everything known of the function being differentiated. Passes fill tables; they hang nothing on nodes."""

    source: Source
    namespace: Namespace
    request: Request
    module: Any = None  # the module of text that this function is part of (srcgrad.module.Module)
    names: FunctionNames = field(default_factory=FunctionNames)
    origin: Origin = field(default_factory=Origin)
    kinds: KnownKinds = field(default_factory=KnownKinds)
    resolution: Resolution = field(default_factory=Resolution)
    activity: Activity = field(default_factory=Activity)
    values: Values = field(default_factory=Values)
    memory: Memory = field(default_factory=Memory)
    calls: DerivedCalls = field(default_factory=DerivedCalls)
    tape: Tape = field(default_factory=Tape)
    idioms: Idioms = field(default_factory=Idioms)
    of_rows: dict[str, None] = field(default_factory=dict)  # names of what has an entry for each row
    reductions: list[tuple[str, ...]] = field(default_factory=list)  # what is added up over blocks, by phases

    def forget_shapes(self) -> None:
        """Empty the tables of shapes and of who reads what: they are found anew of another body."""
        values = self.values
        tables: tuple[dict[Any, Any], ...] = (self.activity.reads, self.origin.mention, self.kinds.tuples)
        for table in (*tables, values.spec, values.value_spec, values.part_spec):
            table.clear()

    def own_copy(self) -> Facts:
        """Facts whose tables may be filled; what stands in the tables is shared."""
        made: Facts = copy(self)
        for record in RECORDS:
            known = getattr(self, record)
            own = {one.name: _own_table(getattr(known, one.name)) for one in fields(known)}
            setattr(made, record, replace(known, **own))
        return made

    def library(self, identifier: str, value: object = None) -> str:
        """How the text spells a library name such as `np` or `sum_to`: with an underscore if the user has another.

        `value` is what is meant, or where it is: `"numba.njit"` is imported by the text alone.
        """
        return self.names.imports[self._library_name(identifier, value)]

    def library_in_text(self, identifier: str, value: object = None) -> str:
        """The same, where passes read the text behind: the name means that there."""
        known = self._library_name(identifier, value)
        spelled, meant = self.names.imports[known], self.names.library_values[known]
        if getattr(self.namespace.lookup(spelled), "object", None) is not meant:  # else look-ups go through one more
            self.namespace = Overlay(self.namespace, {spelled: Binding("object", meant)})
        return spelled

    def _library_name(self, identifier: str, value: object) -> str:
        meant = original(value if value is not None else {"np": np}.get(identifier) or getattr(runtime, identifier))
        while self.names.library_values.get(identifier, meant) is not meant:  # two rules may have functions of one name
            identifier += "_"
        if identifier not in self.names.imports:
            same = getattr(self.namespace.lookup(identifier), "object", None) is meant
            made = self.module is not None and identifier in self.module.making  # a derivative of the text goes by it
            self.names.taken |= {identifier} if made else set()
            hidden = identifier in self.names.local or identifier in self.names.around
            free = not made and not hidden and (same or identifier not in self.names.taken)
            self.names.imports[identifier] = identifier if free else self.names.fresh(identifier)
            self.names.taken.add(identifier)
            self.names.library_values[identifier] = meant
        return identifier

    def operation_of(self, statement: Node | None) -> Operation | None:
        """What the value of a statement computes, where it has one and that is known."""
        value: Node | None = None if statement is None else statement.__dict__.get("value")
        return None if value is None else self.resolution.operation.get(value)

    def filled_by(self, statement: Node) -> str | None:
        """What the call of a forward half, if that is the value of a statement, keeps values in."""
        value: Node | None = getattr(statement, "value", None)
        return None if value is None else self.calls.fills.get(value)

    def list_kind(self, bound: str) -> str:
        """`list` or `dict` if a name holds one that the function made, and may change; an empty string otherwise."""
        known = self.kinds.lists
        return known.get(self.names.base.get(bound, bound), "") if known else ""

    def calls_hooks(self, node: Node) -> bool:
        """Whether a statement of the backward half calls hooks."""
        hooked = self.names.imports.get("hooked")
        return hooked is not None and any(
            getattr(call.func, "id", "") == hooked for call in find_nodes(node, gast.Call)
        )

    def names_and_bases(self, names: Iterable[str]) -> set[str]:
        """The names themselves, and the arrays of whose elements they may be views; with tangents, those of these."""
        seen = set(names)
        seen.update([self.memory.views[one] or one for one in seen if one in self.memory.views])
        tables = (self.memory.views, self.memory.viewed, self.memory.holding)
        if self.pushes_forward and any(self.names.adjoint_of.get(one) in table for one in seen for table in tables):
            seen |= {one for one, primal in self.names.adjoint_of.items() if primal in self.memory.mutable}
        return seen | set(self.memory.mutable) if any(one in table for one in seen for table in tables) else seen

    @property
    def pushes_forward(self) -> bool:
        """Whether tangents are computed, not adjoints."""
        return self.request.mode in ("forward", "hvp", "push")

    @property
    def recomputes(self) -> bool:
        """Whether checkpoints are heeded: not where nothing is recorded, nor in a text to be differentiated again."""
        backwards = self.request.mode in ("reverse", "value-and-grad", "vjp", "elementwise", "pull")
        return backwards and self.module is not None and not self.module.inline

    def as_written(self, node: Node) -> Node:
        """`a += e` for its plain spelling, where nothing recorded holds the old value; other statements as they are."""
        if node not in self.origin.augmented or not isinstance(node.targets[0], gast.Name):
            return node
        value, bound = node.value, node.targets[0].id
        if bound in self.tape.saved or not isinstance(value, gast.BinOp) or getattr(value.left, "id", "") != bound:
            return node
        return gast.copy_location(gast.AugAssign(node.targets[0], value.op, value.right), node)

    @property
    def unused_name(self) -> str:
        """The name for what nobody reads: `_`, unless the user's text has it."""
        self.names.nobody = self.names.nobody or ("_" if "_" not in self.names.local else self.names.fresh("_"))
        return self.names.nobody

    def place(self, node: Node) -> Place:
        """Where `node` is in the user's text."""
        return (self.module and self.module.written.place(node)) or place_in(self.source, node, self.request.generated)

    def refuse(self, node: Node, code: str, message: str, remedy: str) -> DifferentiationError:
        """The error to raise about `node`; about the call of a library's function, where it is in the text of that."""
        return DifferentiationError(code, message, remedy, self.place(node)).outside_of_libraries()

    @contextmanager
    def calling(self, call: Node) -> Iterator[None]:
        """While a called function is looked at: what is refused in the text of a library is told at the call."""
        try:
            yield
        except DifferentiationError as error:
            if error.place is None or not error.place.outside().library:
                raise
            raise error.outside_of_libraries(self.place(call)) from error


def _own_table(value: object) -> object:
    """A table that may be filled."""
    if type(value) is dict:
        return {key: _own_table(item) if type(item) in (dict, list) else item for key, item in value.items()}
    if type(value) is list:
        return list(value)
    return set(value) if type(value) is set else value


def copy_with_facts(node: Node, facts: Facts) -> Node:
    """A copy of a tree that keeps what is known of its names."""
    if type(node) is gast.Name:
        made = name(node.id, node.ctx)
        if node in facts.values.spec:
            facts.values.spec[made] = facts.values.spec[node]
        if node in facts.resolution.results:
            facts.resolution.results[made] = None
        return made
    return remade(node, lambda part: copy_with_facts(part, facts))


_PLAIN = ("unknown", "array", "scalar")
ANY = ...  # the key of a kind that holds of all items of a list or dict whose keys are not known


def of_display(value: Node, kinds: dict[str, Kind]) -> Kind:
    """The kind of a display of names and literals."""
    if isinstance(value, gast.Name):
        return kinds.get(value.id, UNKNOWN)
    if isinstance(value, gast.Tuple | gast.List):
        tag = "tuple" if isinstance(value, gast.Tuple) else "list"
        return Kind(tag, None, tuple((k, of_display(item, kinds)) for k, item in enumerate(value.elts)))
    if isinstance(value, gast.Dict):
        keys = [getattr(key, "value", None) for key in value.keys]
        return Kind("dict", None, tuple(zip(keys, (of_display(v, kinds) for v in value.values), strict=True)))
    return UNKNOWN


def kind_of_items(kind: Kind) -> Kind:
    """What holds of all items of a container; the keys of a dict, over which a loop runs, are unknown."""
    parts = [part for _, part in kind.items] if kind.tag in ("tuple", "list") else []
    return common_kind(parts) if parts else UNKNOWN


def common_kind(parts: list[Kind]) -> Kind:
    """What several kinds have in common."""
    first = parts[0]
    if all(part == first for part in parts):
        return first
    of = [dict(part.items) for part in parts]
    if first.tag not in ("tuple", "list", "dict") or any(part.tag != first.tag for part in parts):
        return UNKNOWN
    if any(items.keys() != of[0].keys() for items in of):
        return Kind("dict") if first.tag == "dict" else UNKNOWN
    return Kind(first.tag, None, tuple((key, common_kind([items[key] for items in of])) for key in of[0]))


def part_of(kind: Kind, index: Node) -> Kind:
    """The kind of `x[index]`: of the item, for a literal key; what all items are, for any other."""
    if isinstance(index, gast.Slice):
        return _slice_of(kind, index) if kind.tag in ("tuple", "list") else UNKNOWN
    key = literal_of(index)
    if key is UNDECIDED:
        parts = [part for _, part in kind.items]
        return common_kind(parts) if parts and kind.tag in ("tuple", "list", "dict") else UNKNOWN
    items = dict(kind.items)
    if ANY in items:
        of_all: Kind = items[ANY]
        return of_all
    if isinstance(key, int) and key < 0:
        key += len(items)
    return items.get(key, UNKNOWN) if isinstance(key, int | str) else UNKNOWN


def _slice_of(kind: Kind, index: Node) -> Kind:
    """The kind of `x[1:-1]`: of these items, for literal bounds; of any number of items that are alike, for others."""
    items = dict(kind.items)
    if not items or ANY in items:
        return Kind(kind.tag, None, kind.items)
    try:
        places = slice(*(None if one is None else literal_value(one) for one in (index.lower, index.upper, index.step)))
        chosen = range(len(items))[places]
    except (ValueError, TypeError):
        return Kind(kind.tag, None, ((ANY, kind_of_items(kind)),))
    return Kind(kind.tag, None, tuple((k, items.get(place, UNKNOWN)) for k, place in enumerate(chosen)))


class AskedKinds(dict[str, Kind]):
    """Kinds that note whether anyone has asked for more than `inner_kinds` and `numbers` tell, or has changed them."""

    told = False
    numbers: frozenset[str] | None = None  # what `numbers` has told, if it was asked

    def __getitem__(self, name: str) -> Kind:
        self.told = True
        return super().__getitem__(name)

    def __setitem__(self, name: str, kind: Kind) -> None:
        self.told = True
        super().__setitem__(name, kind)

    def __contains__(self, name: object) -> bool:
        self.told = True
        return super().__contains__(name)

    def __iter__(self) -> Iterator[str]:
        self.told = True
        return super().__iter__()

    def get(self, name: str, default: object = None) -> Any:
        """The kind of a name."""
        self.told = True
        return super().get(name, default)

    def items(self) -> ItemsView[str, Kind]:  # type: ignore[override]  # a dict has a view of its own type
        """All names and kinds."""
        self.told = True
        return super().items()

    def values(self) -> ValuesView[Kind]:  # type: ignore[override]
        """All kinds."""
        self.told = True
        return super().values()


def inner_kinds(kinds: dict[str, Kind]) -> list[tuple[str, Kind]]:
    """Names and kinds of what is neither a number nor an array, as far as it is known."""
    every = dict.items(kinds)
    return [(n, kind) for n, kind in every if kind.tag not in _PLAIN or kind.items or kind.owner is not None]


def numbers(kinds: dict[str, Kind]) -> frozenset[str]:
    """Names of which it is known that they are numbers."""
    found = frozenset(name for name, kind in dict.items(kinds) if kind == SCALAR)
    if isinstance(kinds, AskedKinds):
        kinds.numbers = found
    return found


# Of these `srcgrad/pipeline.py` says which a pass reads and writes; what was asked for is read by all.
RECORDS = ("names", "origin", "kinds", "resolution", "activity", "values", "memory", "calls", "tape", "idioms")


def meant(node: Node, facts: Facts, known: Container[str] = ()) -> Any:
    """The object that a name such as `np.sum` or `sum_to` of the text means; None for any other expression.

    Names of the function, and those in `known`, hold values of its own.
    """
    found = _binding(node, facts, known)
    return None if found is None else found.object


def function_called(call: Node | None, facts: Facts) -> Any:
    """The function that a call calls, of a library or of ours; None for methods of values, and for what is no call."""
    return meant(call.func, facts) if type(call) is gast.Call else None


def _binding(node: Node, facts: Facts, known: Container[str]) -> Binding | None:
    if type(node) is gast.Name:
        for identifier, spelled in facts.names.imports.items():
            if spelled == node.id:
                return Binding("object", facts.names.library_values[identifier])
        if node.id in facts.names.local or node.id in known:
            return None
        return facts.namespace.lookup(facts.names.globals_as.get(node.id, node.id))
    if type(node) is gast.Attribute:
        base = _binding(node.value, facts, known)
        return None if base is None else attribute(base, node.attr)
    return None

"""In which order a text is improved, both halves together: each pass is in a file of its name."""

from __future__ import annotations

from collections.abc import Callable

from srcgrad.derive.program import Program
from srcgrad.facts import Facts
from srcgrad.improve.accumulate import accumulate
from srcgrad.improve.afresh import afresh
from srcgrad.improve.anew import anew
from srcgrad.improve.begun import begun
from srcgrad.improve.cleared import cleared
from srcgrad.improve.closure import closure
from srcgrad.improve.coalesce import coalesce, count_temporaries
from srcgrad.improve.combined import combined
from srcgrad.improve.common import common
from srcgrad.improve.copies import copies
from srcgrad.improve.counted import counted
from srcgrad.improve.dead import dead
from srcgrad.improve.divided import divided
from srcgrad.improve.factored import factored
from srcgrad.improve.factors import factors
from srcgrad.improve.filled import filled
from srcgrad.improve.fused import fused
from srcgrad.improve.gathered import gathered
from srcgrad.improve.hoisted import hoisted
from srcgrad.improve.inline import inline
from srcgrad.improve.joined import joined
from srcgrad.improve.keyed import keyed
from srcgrad.improve.lasting import lasting
from srcgrad.improve.late import late
from srcgrad.improve.leading import leading
from srcgrad.improve.mirrored import mirrored
from srcgrad.improve.narrow import narrow
from srcgrad.improve.nearest import nearest
from srcgrad.improve.order import order
from srcgrad.improve.parts import parts
from srcgrad.improve.plainer import plainer
from srcgrad.improve.products import products
from srcgrad.improve.quotients import quotients
from srcgrad.improve.ratios import ratios
from srcgrad.improve.reuse import reuse
from srcgrad.improve.shares import shares
from srcgrad.improve.signs import signs
from srcgrad.improve.spelling import spelling
from srcgrad.improve.spent import spent
from srcgrad.improve.squeezed import squeezed
from srcgrad.improve.standins import standins
from srcgrad.improve.stored import stored
from srcgrad.improve.tight import tight
from srcgrad.improve.transposed import transposed
from srcgrad.improve.turned import turned
from srcgrad.improve.unbound import unbound
from srcgrad.improve.uncopied import uncopied
from srcgrad.improve.units import spread_seed, units
from srcgrad.improve.unpack import unpack
from srcgrad.improve.unread import unread

IMPROVE: tuple[Callable[[Program, Facts], Program], ...] = (
    dead,
    unread,
    keyed,
    fused,
    shares,
    combined,
    standins,
    lasting,
    nearest,
    late,
    mirrored,
    parts,
    spread_seed,
    begun,
    common,
    copies,
    ratios,
    transposed,
    spelling,
    unpack,
    inline,
    plainer,
    transposed,
    units,
    narrow,
    quotients,
    factors,
    signs,
    squeezed,
    order,
    turned,
    copies,
    cleared,
    spent,
    uncopied,
    joined,
    hoisted,
    products,
    anew,
    accumulate,
    filled,
    stored,
    tight,
    factors,
    signs,
    divided,
    factored,
    leading,
    afresh,
    reuse,
    coalesce,
    gathered,
    counted,
    count_temporaries,
    closure,
    unbound,
)

"""Python's own functions of what iterates, written out; operations through which no derivative is taken, with reasons.

What chooses (a key, a comparison) chooses places; derivatives go to the items at these. An iterator is a generator
here, whose text is written where it is consumed. What is refused has no rule in any family: this one is the last. A
version of NumPy that lacks a name does no harm.
"""

import builtins
import functools
import itertools
import logging
import operator

import numpy as np

from srcgrad.core.rules import adjoint, constants, declare, declare_other_form
from srcgrad.runtime.structure import sorted_places

constants([sorted_places, logging.getLogger])


def _summed(*calls):
    """The sum of what each of these iterators of x, y and z gives, over three numbers."""
    return tuple((f"sum(float(k + 1) * v for k, v in enumerate({call}))", (), (), ()) for call in calls)


def _paired(*calls):
    return tuple((f"sum(a * a * b for a, b in {call})", (), (), ()) for call in calls)


@adjoint.composed(
    builtins.sorted,
    name="sorted",
    forms=_summed("sorted([x, y, z])", "sorted([x, y, z], reverse=True)"),
)
def in_order(iterable, *, reverse=False):
    items = list(iterable)
    return [items[k] for k in sorted_places(items, reverse)]


@declare_other_form(builtins.sorted, _summed("sorted([x, y, z], key=lambda v: v * v)"), key=())
def in_order_of_keys(iterable, *, key, reverse=False):
    items = list(iterable)
    return [items[k] for k in sorted_places([key(item) for item in items], reverse)]


@declare_other_form(builtins.min, _summed("[min([x, y, z], key=lambda v: v * v)]"), key=())
def least(iterable, *, key):
    items = list(iterable)
    return items[sorted_places([key(item) for item in items])[0]]


@declare_other_form(builtins.max, _summed("[max([x, y, z], key=lambda v: -v)]"), key=())
def greatest(iterable, *, key):
    items = list(iterable)
    return items[sorted_places([key(item) for item in items], True)[0]]


@adjoint.composed(
    functools.reduce,
    name="functools.reduce",
    forms=(
        ("functools.reduce(operator.mul, [x, y, z])", (), (), ()),
        ("functools.reduce(lambda a, b: a * b + b, [x, y])", (3,), (3,)),
    ),
)
def folded(function, iterable):
    items = list(iterable)
    result = items[0]
    for item in items[1:]:
        result = function(result, item)
    return result


@declare_other_form(
    functools.reduce, (("functools.reduce(operator.sub, [x, y], x * y)", (3,), (3,)),), {2: "initial"}, initial=()
)
def folded_from(function, iterable, initial):
    result = initial
    for item in iterable:
        result = function(result, item)
    return result


# -- iterators --------------------------------------------------------------------------------------------------------
@adjoint.composed(itertools.pairwise, name="itertools.pairwise", forms=_paired("itertools.pairwise([x, y, z])"))
def neighbours(iterable):
    items = list(iterable)
    for k in range(len(items) - 1):
        yield items[k], items[k + 1]


@adjoint.composed(itertools.accumulate, name="itertools.accumulate", forms=_summed("itertools.accumulate([x, y, z])"))
def running_sums(iterable):
    total = 0
    for item in iterable:
        total = total + item
        yield total


@declare_other_form(
    itertools.accumulate,
    _summed("itertools.accumulate([x, y, z], operator.mul, initial=2.0)"),
    initial=(),
)
def running_from(iterable, func=operator.add, *, initial):
    items = list(iterable)
    total = initial
    for k in range(len(items) + 1):
        if k > 0:
            total = func(total, items[k - 1])
        yield total


@declare_other_form(
    itertools.accumulate, _summed("itertools.accumulate([x, y, z], lambda a, b: a * b)"), {1: "func"}, func=()
)
def running_values(iterable, func):
    items = list(iterable)
    if len(items) > 0:
        total = items[0]
        yield total
        for item in items[1:]:
            total = func(total, item)
            yield total


@adjoint.composed(itertools.chain, name="itertools.chain", forms=_summed("itertools.chain([x, y], [z])"))
def one_after_another(*iterables):
    for items in iterables:
        yield from items


@adjoint.composed(
    itertools.chain.from_iterable,
    name="itertools.chain.from_iterable",
    forms=_summed("itertools.chain.from_iterable([[x, y], [z]])"),
)
def one_after_another_of(iterable):
    for items in iterable:
        yield from items


@adjoint.composed(itertools.product, name="itertools.product", forms=_summed("(a for a, in itertools.product([x, y]))"))
def of_one(first):
    for a in first:
        yield (a,)


@declare_other_form(itertools.product, _paired("itertools.product([x, y], repeat=2)"), repeat=(2,))
def pairs(first, *, repeat):
    for a in first:
        for b in first:
            yield a, b


@declare_other_form(itertools.product, (), repeat=(3,))
def triples(first, *, repeat):
    for a in first:
        for b in first:
            for c in first:
                yield a, b, c


@declare_other_form(
    itertools.product,
    _summed("(a * b * c for a, b, c in itertools.product([x, y], [z, x], [x]))"),
    {2: "third"},
    third=(),
)
def of_three(first, second, third):
    for a in first:
        for b in second:
            for c in third:
                yield a, b, c


@declare_other_form(itertools.product, _paired("itertools.product([x, y], [y, z])"), {1: "second"}, second=())
def of_two(first, second):
    for a in first:
        for b in second:
            yield a, b


@adjoint.composed(
    itertools.combinations,
    name="itertools.combinations",
    forms=_summed("(a * b * c * d for a, b, c, d in itertools.combinations([x, y, z, x], 4))"),
)
def subsets(iterable, r):
    items = list(iterable)
    for places in list(itertools.combinations(range(len(items)), r)):
        yield [items[k] for k in places]


@declare_other_form(itertools.combinations, _paired("itertools.combinations([x, y, z], 2)"), {1: "r"}, r=(2,))
def subsets_of_two(iterable, r):
    items = list(iterable)
    for i in range(len(items)):
        for j in range(i + 1, len(items)):
            yield items[i], items[j]


@declare_other_form(
    itertools.combinations,
    _summed("(a * b * c for a, b, c in itertools.combinations([x, y, z, x], 3))"),
    {1: "r"},
    r=(3,),
)
def subsets_of_three(iterable, r):
    items = list(iterable)
    for i in range(len(items)):
        for j in range(i + 1, len(items)):
            for k in range(j + 1, len(items)):
                yield items[i], items[j], items[k]


@adjoint.composed(
    itertools.permutations, name="itertools.permutations", forms=_paired("itertools.permutations([x, y, z], 2)")
)
def orders(iterable, r=None):
    items = list(iterable)
    for places in list(itertools.permutations(range(len(items)), r)):
        yield [items[k] for k in places]


@adjoint.composed(
    itertools.zip_longest,
    name="itertools.zip_longest",
    forms=_paired("itertools.zip_longest([x, y, z], [y], fillvalue=2.0)"),
)
def side_by_side(first, second, *, fillvalue=None):
    for k in range(max(len(first), len(second))):
        a = first[k] if k < len(first) else fillvalue
        b = second[k] if k < len(second) else fillvalue
        yield a, b


@adjoint.composed(itertools.islice, name="itertools.islice", forms=_summed("itertools.islice([x, y, z], 2)"))
def first_ones(iterable, stop):
    if stop > 0:
        count = 0
        for item in iterable:
            yield item
            count = count + 1
            if count == stop:
                break


@declare_other_form(itertools.islice, _summed("itertools.islice([x, y, z], 1, 3)"), {2: "stop"}, stop=())
def from_to(iterable, start, stop):
    if stop is None or stop > start:
        count = 0
        for item in iterable:
            if count >= start:
                yield item
            count = count + 1
            if count == stop:
                break


@adjoint.composed(
    itertools.takewhile, name="itertools.takewhile", forms=_summed("itertools.takewhile(lambda v: v > -9.0, [x, y, z])")
)
def as_long_as(predicate, iterable):
    for item in iterable:
        if not predicate(item):
            break
        yield item


@adjoint.composed(
    itertools.starmap,
    name="itertools.starmap",
    forms=_summed("itertools.starmap(lambda a, b: a * b, [(x, y), (z, x)])"),
)
def of_each(function, iterable):
    for item in iterable:
        yield function(*item)


@adjoint.composed(
    itertools.count, name="itertools.count", forms=(("sum(k * v for k, v in zip(itertools.count(1), [x, y]))", (), ()),)
)
def numbers(start=0, step=1):
    number = start
    while True:
        yield number
        number = number + step


@adjoint.composed(
    itertools.repeat,
    name="itertools.repeat",
    forms=(("sum(a * b for a, b in zip([x, y], itertools.repeat(x * y)))", (), ()),),
)
def for_ever(object):
    while True:
        yield object


@declare_other_form(itertools.repeat, _summed("itertools.repeat(x * y, 3)"), {1: "times"}, times=())
def again_and_again(object, times):
    for _ in range(times):
        yield object


@adjoint.composed(
    itertools.cycle,
    name="itertools.cycle",
    forms=(("sum(a * b for a, b in zip([x, y, x], itertools.cycle([x, y])))", (), ()),),
)
def round_and_round(iterable):
    items = list(iterable)
    count = 0
    while True:
        yield items[count % len(items)]
        count = count + 1


SETS = """unique.* union1d intersect1d set.*1d in1d"""
FILES = """load.* genfromtxt fromregex fromfile save.* memmap"""
BYTES = """frombuffer fromstring fromiter from_dlpack .*packbits"""
MAKERS = """ndarray recarray record matrix asmatrix bmat poly1d chararray character flexible generic void bytes_ str_
object_ number inexact .*floating .*integer ufunc broadcast flatiter
ndenumerate ndindex nditer nested_iters busdaycalendar errstate printoptions test"""
DATES = """datetime.* timedelta64 .*busday.*"""
STATEMENTS = """copyto fill_diagonal put put_along_axis putmask"""
CALLBACKS = """apply_over_axes fromfunction"""
IN_PLACE = """fill partition put sort"""
MEMORY = """byteswap resize setfield setflags"""
METHODS = """dumps? getfield to_device to(bytes|file|string) view"""

REASONS = (
    (SETS, "how many elements the result has depends on values; sort the array, or index it with constants"),
    (FILES, "it reads or writes a file"),
    (BYTES, "it reads bits as numbers, or numbers as bits"),
    (MAKERS, "it makes an object, whose arithmetic is its own; use plain arrays and loops"),
    (DATES, "dates are counted, and cannot be moved by a small amount"),
    (CALLBACKS, "it calls a function that it is given; write the loop, or index with a mask"),
    ("piecewise", "it calls functions that it is given; write the conditions, and the functions, as lists in the call"),
    ("polydiv", "how long the remainder is depends on values; divide by np.convolve and a linear system"),
    ("sort_complex", "it makes complex numbers; use np.sort"),
    ("histogram.+", "counts jump where an element crosses an edge"),
    ("einsum_path", "it plans a contraction and computes none"),
    ("nextafter spacing", "it is a property of floating-point numbers, not a function of real ones"),
)


WRITES = (
    (STATEMENTS, "it writes into its argument and gives nothing: call it in a statement of its own"),
    ("place", "it writes as many of its values as a mask has places; write `a[mask] = values`, or use np.where"),
)
OF_MEMORY = "what it gives or changes is memory, not numbers; use the functions of NumPy"

for names, reason in REASONS:
    declare(np, "np", names, reason)
for names, reason in WRITES:
    declare(np, "np", names, reason, writes=True)
declare(np.linalg, "np.linalg", "test", "it runs the tests of NumPy")
declare(np.fft, "np.fft", "test", "it runs the tests of NumPy")
declare(np.ndarray, "np.ndarray", METHODS, OF_MEMORY)
declare(np.ndarray, "np.ndarray", MEMORY, OF_MEMORY, writes=True)
declare(np.ndarray, "np.ndarray", IN_PLACE, "it writes into the array: call it in a statement of its own", writes=True)
declare(np.emath, "np.emath", "sqrt log.* power arc.*", "it may give complex numbers")
declare(np.lib.stride_tricks, "np.lib.stride_tricks", "as_strided", "it shows memory; use sliding_window_view")

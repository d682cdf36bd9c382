"""Rules of the helpers in `srcgrad.runtime`, so that generated code can be differentiated again."""

import numpy as np

from srcgrad.core.rules import adjoint, constants, d, tangent
from srcgrad.runtime import sparse_left, sparse_right
from srcgrad.runtime.broadcast import fit_to, spread, sum_to, summands, summed
from srcgrad.runtime.checks import check_seed, check_shape, exception_of, put_into_copy
from srcgrad.runtime.hooks import (
    adjoint_of,
    beyond_hooks,
    check_adjoint,
    check_adjoints,
    check_total,
    given_adjoints,
    hook,
    hooked,
    probe,
    probed,
    stop_gradient,
    tangent_of,
)
from srcgrad.runtime.layout import (
    add_at,
    converted,
    diag_transpose,
    join_like,
    mesh,
    mesh_transpose,
    place_diagonal,
    repeat_transpose,
    scatter,
    split_like,
    stored,
    tile_transpose,
    unpad,
)
from srcgrad.runtime.linalg import no_further
from srcgrad.runtime.structure import (
    add,
    cast,
    conjugates,
    empty_like,
    fields_of,
    item_masks,
    mask_at,
    mask_to,
    mask_without,
    nan_like,
    of_items,
    owned,
    picks,
    row_count,
    zeros_like,
)

constants([stop_gradient], result="argument")
constants([zeros_like], shape="a", dtype="a", outline="a")
constants([adjoint_of, tangent_of])
constants([empty_like, nan_like, check_seed, row_count, item_masks, mask_at, mask_to, mask_without])
constants([exception_of, put_into_copy])


@adjoint.linear(
    sum_to,
    zeros="kept",
    forms=(
        ("sum_to(x, y)", (2, 3), (3,)),
        ("sum_to(x, y)", (2, 3), (2, 1)),
        ("sum_to(x, y)", (2, 3), (2, 3)),
        ("sum_to(x, y)", (2, 3), ()),
        ("sum_to(x, y)", (), ()),
    ),
    result="argument",
    shape="x",
    dtype="x",
    outline="x",
    complex="conjugated",
    values="x",
)
def sum_to_adjoint(z, g, x, dtype=None):
    d[g] = np.broadcast_to(d[z], np.shape(g))


@adjoint.multilinear(
    picks,
    zeros="made",
    forms=(("picks(x, y)", (3,), (3,)), ("picks(np.where(x > 0.5, 1.0, 0.0), y)", (4,), (4,))),
)
def picks_adjoint(z, weights, values):
    d[weights] = d[z] * values
    d[values] = picks(weights, d[z])


@adjoint.linear(
    fit_to,
    zeros="kept",
    forms=(
        ("fit_to(x, y)", (3,), (2, 1)),
        ("fit_to(x, y)", (2, 3), (3,)),
        ("fit_to(x, y)", (2, 3), (2, 3)),
        ("fit_to(x, y)", (), (2, 3)),
        ("fit_to(x, y)", (3,), ()),
    ),
    result="argument",
    shape="x",
    dtype="x",
    outline="x",
)
def fit_to_adjoint(z, g, x):
    d[g] = fit_to(d[z], g)


@adjoint.linear(
    spread,
    zeros="kept",
    forms=(
        ("spread(x, y, None, False)", (), (2, 3)),
        ("spread(x, y, 0, False)", (3,), (2, 3)),
        ("spread(x, y, -1, True)", (2, 1), (2, 3)),
        ("spread(x, y, (0, -1), False)", (3,), (2, 3, 4)),
    ),
    result="argument",
    complex="conjugated",
)
def spread_adjoint(z, g, a, axis=None, keepdims=False):
    d[g] = np.sum(d[z], axis=axis, keepdims=keepdims)


@adjoint.linear(
    summands,
    forms=(("summands(x, y)", (3,), (2, 3)), ("summands(x, [y, z])[1]", (3,), (), (3,))),
    result="view",
    complex="conjugated",
)
def summands_adjoint(z, g, xs):
    d[g] = summed(d[z], g)


@adjoint.linear(summed, forms=(("summed(x, y)", (2, 3), (3,)), ("summed([x, y], y)", (), (3,))), complex="conjugated")
def summed_adjoint(z, parts, g):
    d[parts] = summands(d[z], parts)


@adjoint.linear(
    fields_of, forms=(("fields_of({'one': x, 'two': y})['two']", (3,), ()),), result="view", complex="conjugated"
)
def fields_of_adjoint(z, x):
    d[x] = d[z]


@adjoint.linear(owned, forms=(("owned(x, (y,))", (2, 3), (3,)),), shape="x", dtype="x", complex="conjugated")
def owned_adjoint(z, x, others):
    d[x] = d[z]


@adjoint.linear(
    stored,
    forms=(
        ("stored(x, [0, 0, 2])", (4,)),
        ("stored(x, (slice(None), np.array([1, 1])))", (2, 3)),
        ("stored(x, np.array([True, False]))", (2,)),
    ),
    complex="conjugated",
)
def stored_adjoint(z, a_bar, index):
    d[a_bar] = scatter(d[z] * stored(np.ones_like(a_bar), index), a_bar, index)


@adjoint.linear(
    scatter,
    zeros="made",
    forms=(
        ("scatter(x, y, 1)", (), (3,)),
        ("scatter(x, y, [0, 0, 2])", (3,), (4,)),
        ("scatter(x, y, (slice(None), 1))", (2,), (2, 3)),
        ("scatter(x, y, [0, 0, 2])", (), (4,)),
    ),
    outline="x",
    complex="conjugated",
    values="x",
)
def scatter_adjoint(z, g, x, index):
    d[g] = sum_to(np.array(d[z][index]), g)


@adjoint.linear(
    add_at,
    forms=(
        ("add_at(np.copy(x), [0, 0, 2], y)", (4,), (3,)),
        ("add_at(np.copy(x), (1, slice(1, 3)), y)", (2, 4), (2,)),
        ("add_at(np.copy(x), [0, 0, 2], y)", (4,), ()),
    ),
    note="It adds in place and returns its first argument.",
    result="argument",
    complex="conjugated",
    values="x_bar",
)
def add_at_adjoint(z, x_bar, index, g):
    d[x_bar] = d[z]
    d[g] = sum_to(np.array(d[z][index]), g)


@adjoint.linear(add, forms=(("add(x, y)", (3,), (3,)), ("add(x, y)", (), ())), complex="conjugated")
def add_adjoint(z, a, b):
    d[a] = d[z]
    d[b] = d[z]


@adjoint.linear(list, forms=(("list(x)[1]", (3,)), ("list(x)[0]", (2, 3))), result="view")
def list_adjoint(z, x):
    d[x] = of_items(d[z], x)


@adjoint.linear(conjugates, complex="written", forms=(("conjugates([x, y])[1]", (3,), (3,)),))
def conjugates_adjoint(z, x):
    d[x] = conjugates(d[z])


@adjoint.linear(of_items, forms=(("of_items([x, y], z)", (), (), (2,)), ("of_items([x, y], z)", (3,), (3,), (2, 3))))
def of_items_adjoint(z, items, x):
    d[items] = d[z]


@adjoint.linear(
    converted,
    forms=(("converted(x, x, y)", (3,), (3,)), ("converted(x, np.arange(3), y)", (3,), (3,))),
    result="argument",
    complex="conjugated",
    values="target",
)
def converted_adjoint(z, g, source, target):
    d[g] = converted(np.broadcast_to(d[z], np.shape(source)), target, source)


@adjoint.linear(
    split_like,
    zeros="kept",
    forms=(("split_like(x, (y, z), 1)[1]", (2, 3), (2, 1), (2, 2)),),
    result="view",
    complex="conjugated",
    gives="arrays",
)
def split_like_adjoint(z, g, arrays, axis=0):
    d[g] = join_like(d[z], g, axis)


@adjoint.linear(join_like, forms=(("join_like([x, y], z, 1)", (2, 1), (2, 2), (2, 3)),), complex="conjugated")
def join_like_adjoint(z, parts, g, axis=0):
    d[parts] = split_like(d[z], parts, axis)


@adjoint.linear(
    mesh,
    forms=(("mesh((x, y))[1]", (2,), (3,)), ("mesh((x, y), 'ij')[0]", (2,), (3,))),
    complex="conjugated",
    gives="arrays",
)
def mesh_adjoint(z, parts, indexing="xy"):
    d[parts] = mesh_transpose(d[z], parts, indexing)


@adjoint.linear(
    mesh_transpose,
    forms=(("mesh_transpose((x, y), (z, u))[0]", (3, 2), (3, 2), (2,), (3,)),),
    complex="conjugated",
    gives="arrays",
)
def mesh_transpose_adjoint(z, g, parts, indexing="xy"):
    d[g] = mesh(d[z], indexing)


@adjoint.linear(
    repeat_transpose,
    zeros="made",
    forms=(("repeat_transpose(x, y, [1, 2], 0)", (3, 2), (2, 2)),),
    outline="a",
    complex="conjugated",
)
def repeat_transpose_adjoint(z, g, a, repeats, axis=None):
    d[g] = np.repeat(d[z], repeats, axis)


@adjoint.linear(
    tile_transpose,
    zeros="kept",
    forms=(("tile_transpose(x, y, (2, 1))", (2, 3), (3,)),),
    outline="a",
    complex="conjugated",
)
def tile_transpose_adjoint(z, g, a, reps):
    d[g] = np.tile(d[z], reps)


@adjoint.linear(
    unpad,
    zeros="kept",
    forms=(("unpad(x, y, 1)", (5,), (3,)), ("unpad(x, y, 1, 'edge')", (5,), (3,))),
    result="argument",
    complex="conjugated",
)
def unpad_adjoint(z, g, array, pad_width, mode="constant"):
    d[g] = np.pad(d[z], pad_width, mode)


@adjoint.linear(
    place_diagonal,
    zeros="made",
    forms=(
        ("place_diagonal(x, y, 1)", (2,), (2, 3)),
        ("place_diagonal(x, y, 0, 0, -1)", (3, 2), (2, 3, 2)),
        ("place_diagonal(x, y, 0, -2, -1)", (4, 1), (4, 2, 2)),
    ),
    complex="conjugated",
)
def place_diagonal_adjoint(z, g, a, offset=0, axis1=0, axis2=1):
    d[g] = sum_to(np.diagonal(d[z], offset, axis1, axis2), g)


@adjoint.linear(
    diag_transpose,
    zeros="made",
    forms=(("diag_transpose(x, y, 1)", (3, 3), (2,)), ("diag_transpose(x, y)", (2,), (2, 3))),
    result="argument",
    outline="v",
    complex="conjugated",
)
def diag_transpose_adjoint(z, g, v, k=0):
    d[g] = np.diag(d[z], k)


@adjoint.linear(no_further, forms=(("no_further(x)", (0,)),), second=False, note="It raises, unless empty.")
def no_further_adjoint(z, g):
    d[g] = no_further(d[z])


@adjoint.linear(check_shape, forms=(("check_shape(x, y)", (2, 3), (2, 3)),), result="argument")
def check_shape_adjoint(z, gradient, x):
    d[gradient] = d[z]


@adjoint(
    hook,
    forms=(("hook(x)", (3,)), ("hook(x)", ())),
    second=False,
    note="The functions see the adjoint.",
    result="argument",
    shape="x",
    dtype="x",
)
def hook_adjoint(y, x, *fns):
    d[x] = hooked(d[y], *fns)


@tangent(hook)
def hook_tangent(y, x, *fns):
    d[y] = d[x]


@adjoint(hooked, forms=(("hooked(x)", (0,)),), second=False, note="Its derivative is not known: it raises.")
def hooked_adjoint(z, x_bar, *fns):
    d[x_bar] = beyond_hooks(d[z])


@tangent(hooked)
def hooked_tangent(z, x_bar, *fns):
    d[z] = beyond_hooks(d[x_bar])


@adjoint.linear(beyond_hooks, forms=(("beyond_hooks(x)", (0,)),), second=False, note="It raises, unless empty.")
def beyond_hooks_adjoint(z, g):
    d[g] = beyond_hooks(d[z])


@adjoint.linear(probe, forms=(("probe(x, 0)", (3,)), ("probe(x, 0)", ())), result="argument", shape="x")
def probe_adjoint(y, x, place):
    d[x] = probed(d[y], place)


@adjoint.linear(probed, forms=(("probed(x, 0)", (3,)), ("probed(x, 0)", ())), result="argument", shape="x_bar")
def probed_adjoint(y, x_bar, place):
    d[x_bar] = d[y]


@adjoint(cast, forms=(("cast(x, np.float64)", (3,)),), note="Both dtypes are floating.", shape="x", dtype="given")
def cast_adjoint(z, x, dtype):
    d[x] = d[z].astype(x.dtype)


@tangent(cast)
def cast_tangent(z, x, dtype):
    d[z] = d[x].astype(z.dtype)


@adjoint.linear(
    check_adjoint, forms=(("check_adjoint(x, y)", (2, 3), (2, 3)), ("check_adjoint(x, y)", (), ())), result="view"
)
def check_adjoint_adjoint(z, given, x):
    d[given] = d[z]


@adjoint.linear(
    check_adjoints,
    forms=(
        ("check_adjoints((x, y), (z, u))[0]", (2, 3), (2, 3), (3,), (2, 3)),
        ("check_adjoints((x, y), (z, u))[1]", (2, 3), (2, 3), (2, 1), (2, 3)),
    ),
    result="view",
    gives="arrays",
)
def check_adjoints_adjoint(z, given, primals):
    d[given] = given_adjoints(d[z], given)


@adjoint.linear(
    given_adjoints,
    forms=(("given_adjoints((x, y), (z, u))[0]", (3,), (2, 3), (2, 3), (2, 3)),),
    result="view",
    gives="arrays",
)
def given_adjoints_adjoint(z, g, given):
    d[g] = check_adjoints(d[z], g)


@adjoint.linear(check_total, forms=(("check_total(x, y)", (2, 3), (2, 3)),), result="view")
def check_total_adjoint(z, given, x):
    d[given] = d[z]


DATA = "a derivative with respect to a sparse matrix is not taken; make it from arrays in the function, or leave it out"
MATRIX = "scipy.sparse.csr_array(np.arange(12.0).reshape(4, 3))"


@adjoint.linear(
    sparse_left,
    forms=((f"sparse_left({MATRIX}, x)", (3,)), (f"sparse_left({MATRIX}, x)", (3, 2))),
    refuses={"a": DATA},
)
def left(z, a, x):
    d[x] = a.T @ d[z]


@adjoint.linear(
    sparse_right,
    forms=((f"sparse_right(x, {MATRIX})", (4,)), (f"sparse_right(x, {MATRIX})", (2, 4))),
    refuses={"a": DATA},
)
def right(z, x, a):
    d[x] = d[z] @ a.T

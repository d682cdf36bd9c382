"""The functions that generated code may call; each depends on NumPy and on its neighbours here only."""

from __future__ import annotations

from srcgrad.runtime.broadcast import spread, sum_to, summands
from srcgrad.runtime.contract import (
    dot_left,
    dot_right,
    fitted,
    inner_left,
    inner_right,
    kron_left,
    kron_right,
    matmul_left,
    matmul_right,
    tensordot_left,
    tensordot_right,
)
from srcgrad.runtime.einsum import einsum_adjoint, einsum_adjoints, einsum_tangent
from srcgrad.runtime.layout import (
    along_axis,
    axis_index,
    converted,
    diag_transpose,
    join_like,
    mesh,
    mesh_transpose,
    place_diagonal,
    repeat_transpose,
    split_like,
    tile_transpose,
    unpad,
)
from srcgrad.runtime.linalg import cofactor, cofactor_derivative, cofactor_second, columns, no_further
from srcgrad.runtime.norm import norm_curvature, norm_gradient
from srcgrad.runtime.reduce import (
    along_axes,
    along_axes_transpose,
    count,
    diff_transpose,
    merge_axes,
    prod_without,
    prod_without_tangent,
    share,
    split_axes,
)
from srcgrad.runtime.scatter import add_at, scatter, stored
from srcgrad.runtime.seed import check_floating, check_number, check_seed, check_shape
from srcgrad.runtime.sinc import sinc_derivative
from srcgrad.runtime.structure import add, owned, zeros_like

__all__ = [
    "add",
    "add_at",
    "along_axes",
    "along_axes_transpose",
    "along_axis",
    "axis_index",
    "check_floating",
    "check_number",
    "check_seed",
    "check_shape",
    "cofactor",
    "cofactor_derivative",
    "cofactor_second",
    "columns",
    "converted",
    "count",
    "diag_transpose",
    "diff_transpose",
    "dot_left",
    "dot_right",
    "einsum_adjoint",
    "einsum_adjoints",
    "einsum_tangent",
    "fitted",
    "inner_left",
    "inner_right",
    "join_like",
    "kron_left",
    "kron_right",
    "matmul_left",
    "matmul_right",
    "merge_axes",
    "mesh",
    "mesh_transpose",
    "no_further",
    "norm_curvature",
    "norm_gradient",
    "owned",
    "place_diagonal",
    "prod_without",
    "prod_without_tangent",
    "repeat_transpose",
    "scatter",
    "share",
    "sinc_derivative",
    "split_axes",
    "split_like",
    "spread",
    "stored",
    "sum_to",
    "summands",
    "tensordot_left",
    "tensordot_right",
    "tile_transpose",
    "unpad",
    "zeros_like",
]

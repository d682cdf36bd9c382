"""Linear filters of `scipy.ndimage`, in their input; loaded on request."""

from scipy import ndimage

from srcgrad.core.rules import adjoint, d
from srcgrad.runtime.signals import filtered_transpose
from srcgrad.templates.refused import declare

WEIGHTS = "it is a constant of the filter; use scipy.signal.correlate for weights that are learned"
WIDTH = "it is the width of a kernel that is cut off at a whole number"
MODES = ("reflect", "mirror", "nearest", "wrap", "constant")


def _forms(name):
    """Calls for every way to go on beyond the edge."""
    weights = "np.array([1.0, 2.0, 4.0, 8.0])"
    return (
        (f"{name}(x, np.array([1.0, 2.0, 4.0]))", (5,)),
        *((f"{name}(x, {weights}, 0, mode='{mode}', origin=1)", (6, 2)) for mode in MODES),
    )


@adjoint.linear(
    ndimage.correlate1d,
    forms=_forms("scipy.ndimage.correlate1d"),
    refuses={"weights": WEIGHTS},
    literals={"mode": MODES},
)
def correlate1d(z, input, weights, axis=-1, mode="reflect", origin=0):
    d[input] = filtered_transpose(d[z], weights, axis, mode, origin)


@adjoint.linear(
    filtered_transpose,
    forms=(("filtered_transpose(x, np.array([1.0, 2.0, 4.0]), 0, 'nearest')", (5, 2)),),
    refuses={"weights": WEIGHTS},
)
def filtered_transpose_adjoint(z, g, weights, axis=-1, mode="reflect", origin=0):
    d[g] = ndimage.correlate1d(d[z], weights, axis, mode=mode, origin=origin)


@adjoint.linear(
    ndimage.gaussian_filter,
    forms=(
        ("scipy.ndimage.gaussian_filter(x, 1.2)", (6,)),
        ("scipy.ndimage.gaussian_filter(x, (0.5, 1.0), mode='wrap', truncate=2.0)", (4, 5)),
        ("scipy.ndimage.gaussian_filter(x, 0.8, mode='constant')", (4, 5)),
    ),
    refuses={"sigma": WIDTH},
    literals={"mode": ("reflect", "wrap", "constant")},
    note="With a symmetric kernel and mode reflect, wrap or constant the filter is its own transpose.",
)
def gaussian_filter(z, input, sigma, mode="reflect", truncate=4.0):
    d[input] = ndimage.gaussian_filter(d[z], sigma, mode=mode, truncate=truncate)


@adjoint.linear(
    ndimage.gaussian_filter1d,
    forms=(
        ("scipy.ndimage.gaussian_filter1d(x, 1.2)", (6,)),
        ("scipy.ndimage.gaussian_filter1d(x, 0.8, 0, mode='wrap')", (5, 2)),
    ),
    refuses={"sigma": WIDTH},
    literals={"mode": ("reflect", "wrap", "constant")},
    note="As gaussian_filter.",
)
def gaussian_filter1d(z, input, sigma, axis=-1, mode="reflect", truncate=4.0):
    d[input] = ndimage.gaussian_filter1d(d[z], sigma, axis, mode=mode, truncate=truncate)


RANKS = """grey_closing grey_dilation grey_erosion grey_opening maximum_filter maximum_filter1d median_filter
minimum_filter minimum_filter1d percentile_filter rank_filter black_tophat white_tophat morphological_gradient"""
MOVES = """affine_transform geometric_transform rotate shift spline_filter spline_filter1d zoom"""
OTHERS = """gaussian_gradient_magnitude gaussian_laplace generic_filter generic_filter1d
generic_gradient_magnitude generic_laplace vectorized_filter
fourier_ellipsoid fourier_gaussian fourier_shift fourier_uniform"""
LABELS = """label find_objects center_of_mass sum sum_labels mean median variance standard_deviation minimum maximum
extrema histogram labeled_comprehension value_indices distance_transform_bf distance_transform_cdt
distance_transform_edt"""

for names, reason in (
    (RANKS, "it picks elements by their rank; use np.sort of shifted arrays"),
    (MOVES, "it moves pixels along a spline; use scipy.ndimage.map_coordinates with order=1, at places of your own"),
    (OTHERS, "it has no rule; spell the filter with scipy.ndimage.correlate1d, axis by axis, or scipy.signal.convolve"),
    (LABELS, "it works on labelled parts; index the array with masks that are constant"),
):
    declare(ndimage, "scipy.ndimage", names, reason)

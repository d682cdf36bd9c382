"""Convolutions and filters, Fourier and cosine transforms, kernels of images: helpers of their transposes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any  # vectors of any floating type

import numpy as np


def convolve_transpose(g: Any, a: Any, v: Any, mode: str = "full") -> Any:
    """The transpose of `np.convolve(a, v, mode)` as a function of a, applied to g; of a's shape.

    >>> convolve_transpose(np.array([1.0, 0.0, 0.0]), np.zeros(2), np.array([3.0, 4.0]))
    array([3., 0.])
    """
    n, m = np.size(a), np.size(v)
    before = 0 if mode == "full" else min(n, m) - 1
    if mode == "same":
        before = (min(n, m) - 1) // 2
    whole = np.zeros(n + m - 1, np.result_type(np.asarray(g), np.asarray(v)))
    whole[before : before + np.size(g)] = g
    made = np.correlate(whole, np.atleast_1d(v), "valid")
    return np.reshape(made, np.shape(a)).astype(np.asarray(g).dtype, copy=False)


def within_full(g: Any, a: Any, v: Any, mode: str = "full") -> Any:
    """What `scipy.signal.convolve(a, v, mode)` cuts off of the full convolution, put back as zeros around g.

    >>> within_full(np.array([1.0, 2.0]), np.zeros(2), np.zeros(3), "same")
    array([0., 1., 2., 0.])
    """
    n, m = np.asarray(np.shape(a)), np.asarray(np.shape(v))
    whole = np.zeros(tuple(n + m - 1), np.asarray(g).dtype)
    whole[_middle(n, m, mode)] = g
    return whole


def of_full(whole: Any, a: Any, v: Any, mode: str = "full") -> Any:
    """The part of a full convolution that `scipy.signal.convolve(a, v, mode)` gives.

    >>> of_full(np.arange(4.0), np.zeros(2), np.zeros(3), "same")
    array([1., 2.])
    """
    n, m = np.asarray(np.shape(a)), np.asarray(np.shape(v))
    return np.array(whole[_middle(n, m, mode)])


def _middle(n: Any, m: Any, mode: str) -> tuple[slice, ...]:
    """Where the result lies in the full convolution, axis by axis."""
    if mode == "full":
        return tuple(slice(None) for _ in n)
    start = (m - 1) // 2 if mode == "same" else np.minimum(n, m) - 1
    length = n if mode == "same" else np.maximum(n, m) - np.minimum(n, m) + 1
    return tuple(slice(first, first + size) for first, size in zip(start, length, strict=True))


def lagged(g: Any, u: Any, b: Any, axis: int = -1) -> Any:
    """The products of g with u, which comes 0, 1, 2 ... samples later, as many as b has elements, of b's shape.

    >>> lagged(np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 2.0]), np.zeros(2))
    array([9., 5.])
    """
    g, u = np.moveaxis(np.asarray(g), axis, 0), np.moveaxis(np.asarray(u), axis, 0)
    sums = [np.sum(g[k:] * u[: max(0, len(u) - k)]) for k in range(np.size(b))]
    return np.reshape(np.array(sums), np.shape(b)).astype(np.result_type(g, u), copy=False)


def filtered_transpose(g: Any, weights: Any, axis: int = -1, mode: str = "reflect", origin: int = 0) -> Any:
    """The transpose of `scipy.ndimage.correlate1d` as a function of its input, applied to g.

    >>> filtered_transpose(np.array([1.0, 0.0, 0.0]), [1.0, 2.0, 4.0])
    array([3., 4., 0.])
    """
    pads = {"reflect": "symmetric", "mirror": "reflect", "nearest": "edge", "wrap": "wrap", "constant": "constant"}
    size, moved = len(weights), np.moveaxis(np.asarray(g), axis, 0)
    before = size // 2 + origin
    more = {"constant_values": -1} if mode == "constant" else {}
    place = np.pad(np.arange(len(moved)), (before, size - 1 - before), pads[mode], **more)  # type: ignore[call-overload]
    made = np.zeros(moved.shape, np.result_type(moved, np.asarray(weights)))
    for k, weight in enumerate(weights):
        inside = place[k : k + len(moved)] >= 0
        np.add.at(made, place[k : k + len(moved)][inside], weight * moved[inside])
    return np.moveaxis(made, 0, axis).astype(np.asarray(g).dtype, copy=False)


def opposite(norm: str | None) -> str:
    """The `norm` with which the other transform is the transpose: the scale stands where it stood before.

    >>> opposite(None), opposite("ortho"), opposite("forward")
    ('forward', 'ortho', 'backward')
    """
    return {"forward": "backward", "ortho": "ortho"}.get(norm or "", "forward")


def resized(g: Any, a: Any) -> Any:
    """`g` cut off, or filled up with zeros, to the shape of `a`: what a transform of given length does, and undoes.

    >>> resized(np.ones(2), np.zeros(3))
    array([1., 1., 0.])
    """
    wanted = np.shape(a)
    if g.shape == wanted:
        return g
    kept = tuple(slice(min(one, two)) for one, two in zip(g.shape, wanted, strict=True))
    made = np.zeros(wanted, g.dtype)
    made[kept] = g[kept]
    return made


def doubled(g: Any, n: int, axis: int = -1) -> Any:
    """Twice what stands in a half spectrum for two elements of the whole: all but the first, and the last of an even n.

    >>> doubled(np.ones(3), 4), doubled(np.ones(3), 5)
    (array([1., 2., 1.]), array([1., 2., 2.]))
    """
    made = np.array(g)
    inner = np.moveaxis(made, axis, -1)[..., 1 : (n + 1) // 2]
    inner *= 2.0
    return made


def transformed(a: Any, s: Sequence[int] | None = None, axes: Any = None) -> tuple[int, ...]:
    """The axes over which a transform of several dimensions runs.

    >>> transformed(np.zeros((2, 3, 4)), None, None), transformed(np.zeros((2, 3, 4)), (5, 6), None)
    ((0, 1, 2), (1, 2))
    """
    if axes is not None:
        return tuple(axes)
    rank = np.ndim(a)
    return tuple(range(rank)) if s is None else tuple(range(rank - len(s), rank))


def lengths(a: Any, s: Sequence[int] | None = None, axes: Any = None) -> tuple[int, ...]:
    """The lengths along the axes of a transform: those given, and the array's own where they are None or -1.

    >>> lengths(np.zeros((2, 3)), None, (0, 1)), lengths(np.zeros((2, 3)), (5, -1), None)
    ((2, 3), (5, 3))
    """
    chosen = transformed(a, s, axes)
    own = [np.shape(a)[axis] for axis in chosen]
    given = [None] * len(own) if s is None else s
    return tuple(size if n is None or n == -1 else n for n, size in zip(given, own, strict=True))


def weighted(g: Any, first: float, last: float, axis: int = -1) -> Any:
    """`g` with its first and last elements along an axis multiplied: the ends of cosine and sine transforms.

    >>> weighted(np.ones(3), 2.0, 0.5)
    array([2. , 1. , 0.5])
    """
    made = np.array(g)
    ends = np.moveaxis(made, axis, -1)
    ends[..., 0] *= first
    ends[..., -1] *= last
    return made


def reaches(weights: Any, origin: Any = 0, turned: bool = False) -> list[tuple[int, int]]:
    """For each axis how many elements a correlation reads before and after an array; `turned` of a convolution.

    >>> reaches(np.ones(3)), reaches(np.ones(4), 1), reaches(np.ones(4), 0, True)
    ([(1, 1)], [(3, 0)], [(1, 2)])
    """
    shape = np.shape(weights)
    made = []
    for size, shift in zip(shape, np.broadcast_to(origin, len(shape)).tolist(), strict=True):
        before = size // 2 + shift
        if turned:
            before = size - 1 - size // 2 - shift
        made.append((before, size - 1 - before))
    return made


def steps_along(weights: Any, rank: int, axis: int) -> tuple[int, ...]:
    """The shape of a kernel of that many elements along one of several axes.

    >>> steps_along([1.0, 2.0, 1.0], 2, -1)
    (1, 3)
    """
    shape = [1] * rank
    shape[axis] = len(weights)
    return tuple(shape)


def taps(origin: int, rank: int, axis: int) -> tuple[int, ...]:
    """The origin of a kernel along one of several axes.

    >>> taps(1, 2, 0)
    (1, 0)
    """
    made = [0] * rank
    made[axis] = origin
    return tuple(made)


def bell(sigma: float, order: int, truncate: float) -> Any:
    """The kernel of `scipy.ndimage.gaussian_filter1d`, as it answers to one element.

    >>> bell(0.3, 0, 4.0).round(4).tolist()
    [0.0038, 0.9923, 0.0038]
    """
    from scipy import ndimage  # late: SciPy may be absent

    reach = int(truncate * float(sigma) + 0.5)
    one = np.eye(1, 2 * reach + 1, reach)[0]
    return ndimage.gaussian_filter1d(one, sigma, order=order, mode="constant", truncate=truncate)


def waves_transpose(
    g: Any, x: Any, name: str, type: int = 2, s: Sequence[int] | None = None, axes: Any = None, norm: str | None = None
) -> Any:
    """The transpose of `scipy.fft.dctn(x, type, s, axes, norm)`, or of `dstn`, `idctn`, `idstn` by name.

    >>> import numpy as np
    >>> waves_transpose(np.ones(2), np.zeros(2), "dctn", norm="ortho").round(3)
    array([1.414, 0.   ])
    """
    from scipy import fft  # late: SciPy may be absent

    one = fft.dct if name.endswith("dctn") else fft.dst
    kind = {2: 3, 3: 2}.get(type, type) if name.startswith("i") else type
    scale = opposite(norm) if name.startswith("i") else norm
    chosen = transformed(x, s, axes)
    for axis in (chosen,) if isinstance(chosen, int) else chosen:
        g = _along(g, one, one is fft.dct, kind, axis, scale)
    return resized(g, x)


def _along(g: Any, transform: Any, even: bool, type: int, axis: int, norm: str | None) -> Any:
    """The transpose of `transform` along one axis: types 2 and 3 are transposes of each other but for one end."""
    if norm == "ortho":
        return transform(g, {2: 3, 3: 2}.get(type, type), axis=axis, norm="ortho")
    ends = (2.0, 1.0) if even else (1.0, 2.0)
    halves = (0.5, 1.0) if even else (1.0, 0.5)
    if type == 2:
        return transform(weighted(g, *ends, axis), 3, axis=axis, norm=norm)
    if type == 3:
        return weighted(transform(g, 2, axis=axis, norm=norm), *halves, axis)
    if type == 1 and even:
        return weighted(transform(weighted(g, 2.0, 2.0, axis), 1, axis=axis, norm=norm), 0.5, 0.5, axis)
    return transform(g, type, axis=axis, norm=norm)


def fitted_window(length: int, order: int, deriv: int = 0, delta: float = 1.0) -> Any:
    """The matrix that takes the values of a window to those of the polynomial that fits them best.

    It gives the derivative of that order, of a signal with that distance between its samples.

    >>> fitted_window(3, 0)[0]
    array([0.33333333, 0.33333333, 0.33333333])
    """
    places = np.arange(length) - length // 2
    fit = np.linalg.pinv(np.vander(places + 0.0, order + 1))
    taken = [np.polyval(np.polyder(column, deriv) if deriv else column, places) for column in fit.T]
    return np.stack(taken, axis=1) / delta**deriv


def one_sided(n: int) -> Any:
    """What a spectrum of n is multiplied with for the negative frequencies to vanish.

    >>> one_sided(4), one_sided(3)
    (array([1., 2., 1., 0.]), array([1., 2., 0.]))
    """
    made = np.zeros(n)
    made[0] = 1.0
    made[1 : (n + 1) // 2] = 2.0
    if n % 2 == 0:
        made[n // 2] = 1.0
    return made


def named_window(window: object, nperseg: int | None, length: int) -> object:
    """The window of that name in `scipy.signal.welch`, of at most so many samples; an array is one itself.

    >>> named_window("boxcar", 9, 3)
    array([1., 1., 1.])
    """
    from scipy.signal import get_window  # late: SciPy may be absent

    if not isinstance(window, str | tuple):
        return np.array(window, float)
    return get_window(window, min(256 if nperseg is None else nperseg, length))

"""Along an axis: running products and sums, gradients, the trapezoidal rule; Fourier transforms, convolutions.

Of the transforms one is the transpose of the other, scaled. What has no lines of its own is written out in operations
that have a rule, so that its derivatives are those of this text.
"""

import numpy as np

from srcgrad.core.rules import accept_complex, adjoint, constants, d, since, tangent, where_known
from srcgrad.runtime.reductions import (
    gradient_transpose,
    gradients,
    products_before,
    recurrence,
    recurrence_back,
    shifted,
)
from srcgrad.runtime.signals import convolve_transpose, doubled, lengths, opposite, resized, transformed


@adjoint(
    np.cumprod,
    forms=(
        ("np.cumprod(x)", (4,)),
        ("np.cumprod(x)", (2, 2)),
        ("np.cumprod(x, axis=0)", (3, 2)),
        ("np.cumprod(x, -1)", (2, 3)),
        ("np.cumprod(x * np.array([1.0, 0.0, 2.0, 3.0]))", (4,)),
        ("np.cumprod(x * np.array([1.0, 0.0, 2.0, 0.0]))", (4,)),
    ),
    note="Exact where elements are 0.",
    complex="conjugated",
    shape="accumulate",
    gives="array",
)
def cumprod(y, a, axis=None):
    if axis in (-3, -2, -1, 0, 1, 2, 3):
        d[a] = recurrence_back(d[y], a, axis) * products_before(a, axis)
    else:
        d[a] = recurrence_back(np.reshape(d[y], np.shape(a)), a, axis) * products_before(a, axis)


@tangent(np.cumprod)
def cumprod_tangent(y, a, axis=None):
    if axis in (-3, -2, -1, 0, 1, 2, 3):
        d[y] = recurrence(d[a] * products_before(a, axis), a, axis)
    else:
        d[y] = np.reshape(recurrence(d[a] * products_before(a, axis), a, axis), np.shape(y))


@adjoint(
    recurrence,
    forms=(("recurrence(x, y, 1)", (2, 3), (2, 3)), ("recurrence(x, y, None)", (2, 2), (2, 2))),
    complex="conjugated",
    linear=("g",),
)
def recurrence_adjoint(s, g, a, axis):
    below = recurrence_back(d[s], a, axis)
    d[g] = below
    d[a] = below * shifted(s, 1, axis)


@tangent(recurrence)
def recurrence_tangent(s, g, a, axis):
    d[s] = recurrence(d[g] + d[a] * shifted(s, 1, axis), a, axis)


@adjoint(
    recurrence_back,
    forms=(("recurrence_back(x, y, 1)", (2, 3), (2, 3)), ("recurrence_back(x, y, 0)", (3,), (3,))),
    complex="conjugated",
    linear=("g",),
)
def recurrence_back_adjoint(s, g, a, axis):
    above = recurrence(d[s], a, axis)
    d[g] = above
    d[a] = shifted(above, 1, axis) * s


@tangent(recurrence_back)
def recurrence_back_tangent(s, g, a, axis):
    d[s] = recurrence_back(d[g] + shifted(d[a] * s, -1, axis), a, axis)


@adjoint(
    products_before,
    forms=(("products_before(x, 1)", (2, 3)), ("products_before(x, None)", (2, 2))),
    complex="conjugated",
)
def products_before_adjoint(p, a, axis):
    d[a] = recurrence_back(shifted(d[p], -1, axis), a, axis) * p


@tangent(products_before)
def products_before_tangent(p, a, axis):
    d[p] = shifted(recurrence(d[a] * p, a, axis), 1, axis)


@adjoint.linear(shifted, forms=(("shifted(x, 1, 0)", (3, 2)), ("shifted(x, -1, 1)", (2, 3))), complex="conjugated")
def shifted_adjoint(z, x, by, axis):
    if by == -1:
        d[x] = shifted(d[z], 1, axis)
    else:
        d[x] = shifted(d[z], -by, axis)


@adjoint.composed(
    since("cumulative_sum"),
    forms=(
        ("np.cumulative_sum(x)", (4,)),
        ("np.cumulative_sum(x, axis=0)", (3, 2)),
        ("np.cumulative_sum(x, axis=-1, include_initial=True)", (2, 3)),
    ),
)
def cumulative_sum(x, *, axis=None, include_initial=False):
    y = np.cumsum(x, axis)
    if include_initial:
        along = -1 if axis is None else axis
        first = np.zeros_like(np.take(y, np.arange(1), axis=along))
        y = np.concatenate((first, y), axis=along)
    return y


@adjoint.composed(
    since("cumulative_prod"),
    forms=(
        ("np.cumulative_prod(x)", (4,)),
        ("np.cumulative_prod(x, axis=0)", (3, 2)),
        ("np.cumulative_prod(x, axis=-1, include_initial=True)", (2, 3)),
    ),
    note="Exact where elements are 0.",
)
def cumulative_prod(x, *, axis=None, include_initial=False):
    y = np.cumprod(x, axis)
    if include_initial:
        along = -1 if axis is None else axis
        first = np.ones_like(np.take(y, np.arange(1), axis=along))
        y = np.concatenate((first, y), axis=along)
    return y


@adjoint.composed(
    np.trapezoid,
    aliases=where_known("trapz"),
    forms=(
        ("np.trapezoid(x)", (4,)),
        ("np.trapezoid(x, dx=0.5)", (2, 4)),
        ("np.trapezoid(x, axis=0)", (3, 2)),
        ("np.trapezoid(x, y)", (4,), (4,)),
        ("np.trapezoid(x, y, axis=0)", (3, 2), (3,)),
        ("np.trapezoid(x, y, axis=1)", (2, 3), (2, 3)),
        ("np.trapezoid(x, None, y)", (4,), ()),
    ),
)
def trapezoid(y, x=None, dx=1.0, axis=-1):
    heights = np.moveaxis(y, axis, -1)
    sums = heights[..., 1:] + heights[..., :-1]
    if x is None:
        area = np.sum(sums, axis=-1) * 0.5 * dx
    elif np.ndim(x) == 1:
        area = np.sum(sums * np.diff(x), axis=-1) * 0.5
    else:
        area = np.sum(sums * np.diff(np.moveaxis(x, axis, -1)), axis=-1) * 0.5
    return area


@adjoint.composed(
    np.ediff1d,
    forms=(
        ("np.ediff1d(x)", (4,)),
        ("np.ediff1d(x)", (2, 3)),
        ("np.ediff1d(x, y, to_begin=z)", (4,), (2,), ()),
    ),
)
def ediff1d(ary, to_end=None, to_begin=None):
    steps = np.diff(np.ravel(ary))
    if to_begin is not None:
        steps = np.concatenate((np.ravel(to_begin).astype(steps.dtype), steps))
    if to_end is not None:
        steps = np.concatenate((steps, np.ravel(to_end).astype(steps.dtype)))
    return steps


@adjoint.linear(
    np.gradient,
    refuses={"varargs": "spacings are taken as constants"},
    forms=(
        ("np.gradient(x)", (5,)),
        ("np.gradient(x, 0.5)", (5,)),
        ("np.gradient(x, edge_order=2)", (5,)),
        ("np.gradient(x, np.array([0.0, 1.0, 1.5, 3.0, 3.5]))", (5,)),
        ("np.gradient(x, np.array([0.0, 1.0, 1.5, 3.0, 3.5]), edge_order=2)", (5,)),
        ("np.gradient(x, axis=0)", (3, 2)),
        ("np.gradient(x, 2.0, axis=-1)", (2, 4)),
        ("np.gradient(x)[1]", (3, 4)),
        ("np.gradient(x, 0.5, np.array([0.0, 1.0, 3.0]))[0]", (2, 3)),
        ("np.gradient(x, axis=(1, 0))[0]", (3, 4)),
        ("np.gradient(x)", (2,)),
    ),
    note="Spacings are constants.",
)
def gradient(z, f, *varargs, axis=None, edge_order=1):
    d[f] = gradient_transpose(d[z], f, varargs, axis, edge_order)


@adjoint.linear(
    gradients,
    forms=(("gradients(x, (0.5,))", (5,)), ("gradients(x, (), 0, 2)", (4, 2))),
)
def gradients_adjoint(z, f, spacings, axis=None, edge_order=1):
    d[f] = gradient_transpose(d[z], f, spacings, axis, edge_order)


@adjoint.linear(
    gradient_transpose,
    zeros="added",
    forms=(
        ("gradient_transpose(x, y, ())", (5,), (5,)),
        ("gradient_transpose(x, y, (2.0,), 1, 2)", (2, 4), (2, 4)),
        ("gradient_transpose(np.stack([x, y]), x, ())", (3, 4), (3, 4)),
    ),
)
def gradient_transpose_adjoint(z, g, f, spacings, axis=None, edge_order=1):
    d[g] = gradients(d[z], spacings, axis, edge_order)


@adjoint(
    np.unwrap,
    refuses={"discont": "it is a bound", "period": "the number of periods depends on all elements before"},
    forms=(
        ("np.unwrap(x * 3.0)", (6,)),
        ("np.unwrap(x * 3.0, axis=0)", (4, 2)),
        ("np.unwrap(x * 3.0, discont=4.0, period=5.0)", (6,)),
    ),
)
def unwrap(z, p, discont=None, axis=-1, *, period=2.0 * np.pi):
    d[p] = d[z]


@tangent(np.unwrap)
def unwrap_tangent(z, p, discont=None, axis=-1, *, period=2.0 * np.pi):
    d[z] = d[p]


constants([opposite, transformed, lengths])


def fourier_forms(name, *calls):
    """Calls of a transform on x, with shapes: each with every norm."""
    norms = ("", ", norm='ortho'", ", norm='forward'")
    return tuple((f"{name}(x{call}{norm})", shape) for call, shape in calls for norm in norms[: 3 if not call else 2])


ONE = (
    ("", (4,)),
    ("", (2, 5)),
    (", axis=0", (3, 2)),
    (", axis=1", (2, 4, 3)),
    (", 3", (2, 5)),
    (", n=6, axis=0", (4, 2)),
    (", None, -2", (3, 2)),
)
MANY = (("", (3, 4)), ("", (2, 5)), (", axes=(0, 1)", (4, 3, 2)), (", (2, 6), (0, 1)", (3, 4, 2)))


@adjoint.linear(np.fft.fft, complex="written", values="complex", forms=fourier_forms("np.fft.fft", *ONE))
def fft(z, a, n=None, axis=-1, norm=None):
    if n is None and axis == -1:
        d[a] = np.fft.ifft(d[z], norm=opposite(norm))
    elif n is None:
        d[a] = np.fft.ifft(d[z], axis=axis, norm=opposite(norm))
    else:
        d[a] = resized(np.fft.ifft(d[z], axis=axis, norm=opposite(norm)), a)


@adjoint.linear(np.fft.ifft, complex="written", values="complex", forms=fourier_forms("np.fft.ifft", *ONE))
def ifft(z, a, n=None, axis=-1, norm=None):
    if n is None and axis == -1:
        d[a] = np.fft.fft(d[z], norm=opposite(norm))
    elif n is None:
        d[a] = np.fft.fft(d[z], axis=axis, norm=opposite(norm))
    else:
        d[a] = resized(np.fft.fft(d[z], axis=axis, norm=opposite(norm)), a)


@adjoint.linear(np.fft.rfft, complex="written", values="complex", forms=fourier_forms("np.fft.rfft", *ONE))
def rfft(z, a, n=None, axis=-1, norm=None):
    if n is None and axis == -1:
        d[a] = np.fft.ifft(d[z], np.shape(a)[-1], norm=opposite(norm))
    elif n is None:
        d[a] = np.fft.ifft(d[z], np.shape(a)[axis], axis, norm=opposite(norm))
    elif n is not None:
        d[a] = resized(np.fft.ifft(d[z], n, axis, norm=opposite(norm)), a)
    else:  # known when it runs
        d[a] = resized(np.fft.ifft(d[z], lengths(a, (n,), (axis,))[0], axis, norm=opposite(norm)), a)


@adjoint.linear(np.fft.irfft, complex="written", values="real", forms=fourier_forms("np.fft.irfft", *ONE))
def irfft(z, a, n=None, axis=-1, norm=None):
    if n is None and axis == -1:
        d[a] = doubled(np.fft.rfft(d[z], norm=opposite(norm)), np.shape(z)[-1])
    else:
        d[a] = resized(doubled(np.fft.rfft(d[z], axis=axis, norm=opposite(norm)), np.shape(z)[axis], axis), a)


@adjoint.linear(np.fft.hfft, complex="written", values="real", forms=fourier_forms("np.fft.hfft", *ONE))
def hfft(z, a, n=None, axis=-1, norm=None):
    same = opposite(opposite(norm))
    if n is None and axis == -1:
        d[a] = np.conj(doubled(np.fft.rfft(d[z], norm=same), np.shape(z)[-1]))
    else:
        d[a] = np.conj(resized(doubled(np.fft.rfft(d[z], axis=axis, norm=same), np.shape(z)[axis], axis), a))


@adjoint.linear(np.fft.ihfft, complex="written", values="complex", forms=fourier_forms("np.fft.ihfft", *ONE))
def ihfft(z, a, n=None, axis=-1, norm=None):
    if n is None and axis == -1:
        d[a] = np.fft.fft(d[z], np.shape(a)[-1], norm=opposite(norm))
    elif n is None:
        d[a] = np.fft.fft(d[z], np.shape(a)[axis], axis, norm=opposite(norm))
    elif n is not None:
        d[a] = resized(np.fft.fft(d[z], n, axis, norm=opposite(norm)), a)
    else:  # known when it runs
        d[a] = resized(np.fft.fft(d[z], lengths(a, (n,), (axis,))[0], axis, norm=opposite(norm)), a)


@adjoint.linear(np.fft.fftn, complex="written", values="complex", forms=fourier_forms("np.fft.fftn", *MANY))
def fftn(z, a, s=None, axes=None, norm=None):
    if s is None and axes is None:
        d[a] = np.fft.ifftn(d[z], norm=opposite(norm))
    elif s is None:
        d[a] = np.fft.ifftn(d[z], axes=axes, norm=opposite(norm))
    else:
        d[a] = resized(np.fft.ifftn(d[z], axes=transformed(a, s, axes), norm=opposite(norm)), a)


@adjoint.linear(np.fft.ifftn, complex="written", values="complex", forms=fourier_forms("np.fft.ifftn", *MANY))
def ifftn(z, a, s=None, axes=None, norm=None):
    if s is None and axes is None:
        d[a] = np.fft.fftn(d[z], norm=opposite(norm))
    elif s is None:
        d[a] = np.fft.fftn(d[z], axes=axes, norm=opposite(norm))
    else:
        d[a] = resized(np.fft.fftn(d[z], axes=transformed(a, s, axes), norm=opposite(norm)), a)


@adjoint.linear(np.fft.fft2, complex="written", values="complex", forms=fourier_forms("np.fft.fft2", *MANY))
def fft2(z, a, s=None, axes=(-2, -1), norm=None):
    if s is None and axes == (-2, -1):
        d[a] = np.fft.ifft2(d[z], norm=opposite(norm))
    elif s is None:
        d[a] = np.fft.ifft2(d[z], axes=axes, norm=opposite(norm))
    else:
        d[a] = resized(np.fft.ifft2(d[z], axes=axes, norm=opposite(norm)), a)


@adjoint.linear(np.fft.ifft2, complex="written", values="complex", forms=fourier_forms("np.fft.ifft2", *MANY))
def ifft2(z, a, s=None, axes=(-2, -1), norm=None):
    if s is None and axes == (-2, -1):
        d[a] = np.fft.fft2(d[z], norm=opposite(norm))
    elif s is None:
        d[a] = np.fft.fft2(d[z], axes=axes, norm=opposite(norm))
    else:
        d[a] = resized(np.fft.fft2(d[z], axes=axes, norm=opposite(norm)), a)


@adjoint.linear(np.fft.rfftn, complex="written", values="complex", forms=fourier_forms("np.fft.rfftn", *MANY))
def rfftn(z, a, s=None, axes=None, norm=None):
    if s is None:
        d[a] = np.fft.ifftn(d[z], lengths(a, s, axes), transformed(a, s, axes), norm=opposite(norm))
    else:
        d[a] = resized(np.fft.ifftn(d[z], lengths(a, s, axes), transformed(a, s, axes), norm=opposite(norm)), a)


@adjoint.linear(np.fft.rfft2, complex="written", values="complex", forms=fourier_forms("np.fft.rfft2", *MANY))
def rfft2(z, a, s=None, axes=(-2, -1), norm=None):
    if s is None and axes == (-2, -1):
        d[a] = np.fft.ifft2(d[z], np.shape(a)[-2:], norm=opposite(norm))
    else:
        d[a] = resized(np.fft.ifft2(d[z], lengths(a, s, axes), axes, norm=opposite(norm)), a)


@adjoint.linear(np.fft.irfftn, complex="written", values="real", forms=fourier_forms("np.fft.irfftn", *MANY))
def irfftn(z, a, s=None, axes=None, norm=None):
    chosen = transformed(a, s, axes)
    last = chosen[-1]
    d[a] = resized(doubled(np.fft.rfftn(d[z], axes=chosen, norm=opposite(norm)), np.shape(z)[last], last), a)


@adjoint.linear(np.fft.irfft2, complex="written", values="real", forms=fourier_forms("np.fft.irfft2", *MANY))
def irfft2(z, a, s=None, axes=(-2, -1), norm=None):
    last = axes[-1]
    d[a] = resized(doubled(np.fft.rfftn(d[z], axes=axes, norm=opposite(norm)), np.shape(z)[last], last), a)


@adjoint.linear(
    np.fft.fftshift,
    forms=(
        ("np.fft.fftshift(x)", (2, 3)),
        ("np.fft.fftshift(x, axes=1)", (2, 3)),
        ("np.fft.fftshift(x, (0,))", (5, 2)),
    ),
)
def fftshift(z, x, axes=None):
    if axes is None:
        d[x] = np.fft.ifftshift(d[z])
    else:
        d[x] = np.fft.ifftshift(d[z], axes)


@adjoint.linear(
    np.fft.ifftshift,
    forms=(("np.fft.ifftshift(x)", (2, 3)), ("np.fft.ifftshift(x, axes=1)", (2, 3))),
)
def ifftshift(z, x, axes=None):
    if axes is None:
        d[x] = np.fft.fftshift(d[z])
    else:
        d[x] = np.fft.fftshift(d[z], axes)


@adjoint.linear(resized, forms=(("resized(x, y)", (2, 5), (3, 4)), ("resized(x, y)", (4,), (4,))), result="argument")
def resized_adjoint(z, g, a):
    d[g] = resized(d[z], g)


@adjoint.linear(doubled, forms=(("doubled(x, 4)", (2, 3)), ("doubled(x, 5, 0)", (3, 2))))
def doubled_adjoint(z, g, n, axis=-1):
    d[g] = doubled(d[z], n, axis)


accept_complex([np.fft.fftshift, np.fft.ifftshift, resized, doubled], "written")


@adjoint.multilinear(
    np.convolve,
    forms=(
        *((f"np.convolve(x, y, '{mode}')", (n,), (m,)) for mode in ("full", "same", "valid") for n, m in (
            (5, 3), (3, 5), (4, 2), (2, 3), (1, 4), (3, 3),
        )),
        ("np.convolve(x, y)", (3,), ()),
        ("np.convolve(x, x, mode='same')", (4,)),
    ),
    gives="array",
)  # fmt: skip
def convolve(z, a, v, mode="full"):
    d[a] = convolve_transpose(d[z], a, v, mode)
    d[v] = convolve_transpose(d[z], v, a, mode)


@adjoint.composed(
    np.correlate,
    forms=(
        *((f"np.correlate(x, y, '{mode}')", (n,), (m,)) for mode in ("full", "same", "valid") for n, m in (
            (5, 3), (3, 5), (4, 2), (2, 4), (1, 4), (3, 3),
        )),
        ("np.correlate(x, y)", (5,), (2,)),
    ),
)  # fmt: skip
def correlate(a, v, mode="valid"):
    return np.convolve(v, a[::-1], mode)[::-1] if np.size(v) > np.size(a) else np.convolve(a, v[::-1], mode)


@adjoint.multilinear(
    convolve_transpose,
    forms=(
        ("convolve_transpose(x, y, z, 'same')", (5,), (5,), (2,)),
        ("convolve_transpose(x, y, z, 'valid')", (3,), (2,), (4,)),
        ("convolve_transpose(x, y, z)", (4,), (3,), (2,)),
    ),
)
def convolve_transpose_adjoint(z, g, a, v, mode="full"):
    d[g] = np.convolve(d[z], v, mode)
    d[v] = convolve_transpose(g, v, d[z], mode)

"""Fourier transforms, of which one is the transpose of the other, scaled; convolutions of vectors."""

import numpy as np

from srcgrad.core.rules import accept_complex, adjoint, constants, d
from srcgrad.runtime.signals import convolve_transpose, doubled, lengths, opposite, resized, transformed

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

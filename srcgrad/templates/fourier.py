"""Fourier transforms: the transpose of one is the other, with its scale turned round.

A spectrum of half length holds each inner element for two, so these are doubled in the adjoint of `irfft`.
"""

import numpy as np

from srcgrad.core.rule_forms import accept_complex
from srcgrad.core.rules import adjoint, constants, d
from srcgrad.runtime.fourier import doubled, lengths, opposite, resized, transformed

constants([opposite, transformed, lengths])


def _forms(name, *calls):
    """Calls of a transform on x, with shapes: each with every norm."""
    norms = ("", ", norm='ortho'", ", norm='forward'")
    return tuple((f"{name}(x{call}{norm})", shape) for call, shape in calls for norm in norms[: 3 if not call else 2])


_ONE = (
    ("", (4,)),
    ("", (2, 5)),
    (", axis=0", (3, 2)),
    (", axis=1", (2, 4, 3)),
    (", 3", (2, 5)),
    (", n=6, axis=0", (4, 2)),
    (", None, -2", (3, 2)),
)
_MANY = (("", (3, 4)), ("", (2, 5)), (", axes=(0, 1)", (4, 3, 2)), (", (2, 6), (0, 1)", (3, 4, 2)))


@adjoint.linear(np.fft.fft, complex="written", values="complex", forms=_forms("np.fft.fft", *_ONE))
def fft(z, a, n=None, axis=-1, norm=None):
    if n is None and axis == -1:
        d[a] = np.fft.ifft(d[z], norm=opposite(norm))
    elif n is None:
        d[a] = np.fft.ifft(d[z], axis=axis, norm=opposite(norm))
    else:
        d[a] = resized(np.fft.ifft(d[z], axis=axis, norm=opposite(norm)), a)


@adjoint.linear(np.fft.ifft, complex="written", values="complex", forms=_forms("np.fft.ifft", *_ONE))
def ifft(z, a, n=None, axis=-1, norm=None):
    if n is None and axis == -1:
        d[a] = np.fft.fft(d[z], norm=opposite(norm))
    elif n is None:
        d[a] = np.fft.fft(d[z], axis=axis, norm=opposite(norm))
    else:
        d[a] = resized(np.fft.fft(d[z], axis=axis, norm=opposite(norm)), a)


@adjoint.linear(np.fft.rfft, complex="written", values="complex", forms=_forms("np.fft.rfft", *_ONE))
def rfft(z, a, n=None, axis=-1, norm=None):
    if n is None and axis == -1:
        d[a] = np.fft.ifft(d[z], np.shape(a)[-1], norm=opposite(norm))
    elif n is None:
        d[a] = np.fft.ifft(d[z], np.shape(a)[axis], axis, norm=opposite(norm))
    elif n is not None:
        d[a] = resized(np.fft.ifft(d[z], n, axis, norm=opposite(norm)), a)
    else:  # known when it runs
        d[a] = resized(np.fft.ifft(d[z], lengths(a, (n,), (axis,))[0], axis, norm=opposite(norm)), a)


@adjoint.linear(np.fft.irfft, complex="written", values="real", forms=_forms("np.fft.irfft", *_ONE))
def irfft(z, a, n=None, axis=-1, norm=None):
    if n is None and axis == -1:
        d[a] = doubled(np.fft.rfft(d[z], norm=opposite(norm)), np.shape(z)[-1])
    else:
        d[a] = resized(doubled(np.fft.rfft(d[z], axis=axis, norm=opposite(norm)), np.shape(z)[axis], axis), a)


@adjoint.linear(np.fft.hfft, complex="written", values="real", forms=_forms("np.fft.hfft", *_ONE))
def hfft(z, a, n=None, axis=-1, norm=None):
    same = opposite(opposite(norm))
    if n is None and axis == -1:
        d[a] = np.conj(doubled(np.fft.rfft(d[z], norm=same), np.shape(z)[-1]))
    else:
        d[a] = np.conj(resized(doubled(np.fft.rfft(d[z], axis=axis, norm=same), np.shape(z)[axis], axis), a))


@adjoint.linear(np.fft.ihfft, complex="written", values="complex", forms=_forms("np.fft.ihfft", *_ONE))
def ihfft(z, a, n=None, axis=-1, norm=None):
    if n is None and axis == -1:
        d[a] = np.fft.fft(d[z], np.shape(a)[-1], norm=opposite(norm))
    elif n is None:
        d[a] = np.fft.fft(d[z], np.shape(a)[axis], axis, norm=opposite(norm))
    elif n is not None:
        d[a] = resized(np.fft.fft(d[z], n, axis, norm=opposite(norm)), a)
    else:  # known when it runs
        d[a] = resized(np.fft.fft(d[z], lengths(a, (n,), (axis,))[0], axis, norm=opposite(norm)), a)


@adjoint.linear(np.fft.fftn, complex="written", values="complex", forms=_forms("np.fft.fftn", *_MANY))
def fftn(z, a, s=None, axes=None, norm=None):
    if s is None and axes is None:
        d[a] = np.fft.ifftn(d[z], norm=opposite(norm))
    elif s is None:
        d[a] = np.fft.ifftn(d[z], axes=axes, norm=opposite(norm))
    else:
        d[a] = resized(np.fft.ifftn(d[z], axes=transformed(a, s, axes), norm=opposite(norm)), a)


@adjoint.linear(np.fft.ifftn, complex="written", values="complex", forms=_forms("np.fft.ifftn", *_MANY))
def ifftn(z, a, s=None, axes=None, norm=None):
    if s is None and axes is None:
        d[a] = np.fft.fftn(d[z], norm=opposite(norm))
    elif s is None:
        d[a] = np.fft.fftn(d[z], axes=axes, norm=opposite(norm))
    else:
        d[a] = resized(np.fft.fftn(d[z], axes=transformed(a, s, axes), norm=opposite(norm)), a)


@adjoint.linear(np.fft.fft2, complex="written", values="complex", forms=_forms("np.fft.fft2", *_MANY))
def fft2(z, a, s=None, axes=(-2, -1), norm=None):
    if s is None and axes == (-2, -1):
        d[a] = np.fft.ifft2(d[z], norm=opposite(norm))
    elif s is None:
        d[a] = np.fft.ifft2(d[z], axes=axes, norm=opposite(norm))
    else:
        d[a] = resized(np.fft.ifft2(d[z], axes=axes, norm=opposite(norm)), a)


@adjoint.linear(np.fft.ifft2, complex="written", values="complex", forms=_forms("np.fft.ifft2", *_MANY))
def ifft2(z, a, s=None, axes=(-2, -1), norm=None):
    if s is None and axes == (-2, -1):
        d[a] = np.fft.fft2(d[z], norm=opposite(norm))
    elif s is None:
        d[a] = np.fft.fft2(d[z], axes=axes, norm=opposite(norm))
    else:
        d[a] = resized(np.fft.fft2(d[z], axes=axes, norm=opposite(norm)), a)


@adjoint.linear(np.fft.rfftn, complex="written", values="complex", forms=_forms("np.fft.rfftn", *_MANY))
def rfftn(z, a, s=None, axes=None, norm=None):
    if s is None:
        d[a] = np.fft.ifftn(d[z], lengths(a, s, axes), transformed(a, s, axes), norm=opposite(norm))
    else:
        d[a] = resized(np.fft.ifftn(d[z], lengths(a, s, axes), transformed(a, s, axes), norm=opposite(norm)), a)


@adjoint.linear(np.fft.rfft2, complex="written", values="complex", forms=_forms("np.fft.rfft2", *_MANY))
def rfft2(z, a, s=None, axes=(-2, -1), norm=None):
    if s is None and axes == (-2, -1):
        d[a] = np.fft.ifft2(d[z], np.shape(a)[-2:], norm=opposite(norm))
    else:
        d[a] = resized(np.fft.ifft2(d[z], lengths(a, s, axes), axes, norm=opposite(norm)), a)


@adjoint.linear(np.fft.irfftn, complex="written", values="real", forms=_forms("np.fft.irfftn", *_MANY))
def irfftn(z, a, s=None, axes=None, norm=None):
    chosen = transformed(a, s, axes)
    last = chosen[-1]
    d[a] = resized(doubled(np.fft.rfftn(d[z], axes=chosen, norm=opposite(norm)), np.shape(z)[last], last), a)


@adjoint.linear(np.fft.irfft2, complex="written", values="real", forms=_forms("np.fft.irfft2", *_MANY))
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


@adjoint.linear(resized, forms=(("resized(x, y)", (2, 5), (3, 4)), ("resized(x, y)", (4,), (4,))))
def resized_adjoint(z, g, a):
    d[g] = resized(d[z], g)


@adjoint.linear(doubled, forms=(("doubled(x, 4)", (2, 3)), ("doubled(x, 5, 0)", (3, 2))))
def doubled_adjoint(z, g, n, axis=-1):
    d[g] = doubled(d[z], n, axis)


accept_complex([np.fft.fftshift, np.fft.ifftshift, resized, doubled], "written")

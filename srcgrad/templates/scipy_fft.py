"""`scipy.fft`: the transforms that NumPy has, too, with NumPy's in their adjoints; on request."""

import numpy as np
from scipy import fft

from srcgrad.core.rules import adjoint, constants, d
from srcgrad.runtime.fourier import doubled, lengths, opposite, resized, transformed
from srcgrad.templates.fourier import _MANY, _ONE, _forms

constants([fft.fftfreq, fft.rfftfreq, fft.next_fast_len, fft.prev_fast_len])
KEPT = {"overwrite_x": (False,)}  # the argument stays as it is


@adjoint.linear(fft.fft, complex="written", values="complex", literals=KEPT, forms=_forms("scipy.fft.fft", *_ONE))
def fft_of(z, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    if n is None and axis == -1:
        d[x] = np.fft.ifft(d[z], norm=opposite(norm))
    elif n is None:
        d[x] = np.fft.ifft(d[z], axis=axis, norm=opposite(norm))
    else:
        d[x] = resized(np.fft.ifft(d[z], axis=axis, norm=opposite(norm)), x)


@adjoint.linear(fft.ifft, complex="written", values="complex", literals=KEPT, forms=_forms("scipy.fft.ifft", *_ONE))
def ifft(z, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    if n is None and axis == -1:
        d[x] = np.fft.fft(d[z], norm=opposite(norm))
    elif n is None:
        d[x] = np.fft.fft(d[z], axis=axis, norm=opposite(norm))
    else:
        d[x] = resized(np.fft.fft(d[z], axis=axis, norm=opposite(norm)), x)


@adjoint.linear(fft.rfft, complex="written", values="complex", literals=KEPT, forms=_forms("scipy.fft.rfft", *_ONE))
def rfft(z, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    if n is None and axis == -1:
        d[x] = np.fft.ifft(d[z], np.shape(x)[-1], norm=opposite(norm))
    elif n is None:
        d[x] = np.fft.ifft(d[z], np.shape(x)[axis], axis, norm=opposite(norm))
    elif n is not None:
        d[x] = resized(np.fft.ifft(d[z], n, axis, norm=opposite(norm)), x)
    else:  # known when it runs
        d[x] = resized(np.fft.ifft(d[z], lengths(x, (n,), (axis,))[0], axis, norm=opposite(norm)), x)


@adjoint.linear(fft.irfft, complex="written", values="real", literals=KEPT, forms=_forms("scipy.fft.irfft", *_ONE))
def irfft(z, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    if n is None and axis == -1:
        d[x] = doubled(np.fft.rfft(d[z], norm=opposite(norm)), np.shape(z)[-1])
    else:
        d[x] = resized(doubled(np.fft.rfft(d[z], axis=axis, norm=opposite(norm)), np.shape(z)[axis], axis), x)


@adjoint.linear(fft.hfft, complex="written", values="real", literals=KEPT, forms=_forms("scipy.fft.hfft", *_ONE))
def hfft(z, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    same = opposite(opposite(norm))
    if n is None and axis == -1:
        d[x] = np.conj(doubled(np.fft.rfft(d[z], norm=same), np.shape(z)[-1]))
    else:
        d[x] = np.conj(resized(doubled(np.fft.rfft(d[z], axis=axis, norm=same), np.shape(z)[axis], axis), x))


@adjoint.linear(fft.ihfft, complex="written", values="complex", literals=KEPT, forms=_forms("scipy.fft.ihfft", *_ONE))
def ihfft(z, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    if n is None and axis == -1:
        d[x] = np.fft.fft(d[z], np.shape(x)[-1], norm=opposite(norm))
    elif n is None:
        d[x] = np.fft.fft(d[z], np.shape(x)[axis], axis, norm=opposite(norm))
    elif n is not None:
        d[x] = resized(np.fft.fft(d[z], n, axis, norm=opposite(norm)), x)
    else:  # known when it runs
        d[x] = resized(np.fft.fft(d[z], lengths(x, (n,), (axis,))[0], axis, norm=opposite(norm)), x)


@adjoint.linear(fft.fftn, complex="written", values="complex", literals=KEPT, forms=_forms("scipy.fft.fftn", *_MANY))
def fftn(z, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    if s is None and axes is None:
        d[x] = np.fft.ifftn(d[z], norm=opposite(norm))
    elif s is None:
        d[x] = np.fft.ifftn(d[z], axes=axes, norm=opposite(norm))
    else:
        d[x] = resized(np.fft.ifftn(d[z], axes=transformed(x, s, axes), norm=opposite(norm)), x)


@adjoint.linear(fft.ifftn, complex="written", values="complex", literals=KEPT, forms=_forms("scipy.fft.ifftn", *_MANY))
def ifftn(z, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    if s is None and axes is None:
        d[x] = np.fft.fftn(d[z], norm=opposite(norm))
    elif s is None:
        d[x] = np.fft.fftn(d[z], axes=axes, norm=opposite(norm))
    else:
        d[x] = resized(np.fft.fftn(d[z], axes=transformed(x, s, axes), norm=opposite(norm)), x)


@adjoint.linear(fft.fft2, complex="written", values="complex", literals=KEPT, forms=_forms("scipy.fft.fft2", *_MANY))
def fft2(z, x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    if s is None and axes == (-2, -1):
        d[x] = np.fft.ifft2(d[z], norm=opposite(norm))
    elif s is None:
        d[x] = np.fft.ifft2(d[z], axes=axes, norm=opposite(norm))
    else:
        d[x] = resized(np.fft.ifft2(d[z], axes=axes, norm=opposite(norm)), x)


@adjoint.linear(fft.ifft2, complex="written", values="complex", literals=KEPT, forms=_forms("scipy.fft.ifft2", *_MANY))
def ifft2(z, x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    if s is None and axes == (-2, -1):
        d[x] = np.fft.fft2(d[z], norm=opposite(norm))
    elif s is None:
        d[x] = np.fft.fft2(d[z], axes=axes, norm=opposite(norm))
    else:
        d[x] = resized(np.fft.fft2(d[z], axes=axes, norm=opposite(norm)), x)


@adjoint.linear(fft.rfftn, complex="written", values="complex", literals=KEPT, forms=_forms("scipy.fft.rfftn", *_MANY))
def rfftn(z, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    if s is None:
        d[x] = np.fft.ifftn(d[z], lengths(x, s, axes), transformed(x, s, axes), norm=opposite(norm))
    else:
        d[x] = resized(np.fft.ifftn(d[z], lengths(x, s, axes), transformed(x, s, axes), norm=opposite(norm)), x)


@adjoint.linear(fft.rfft2, complex="written", values="complex", literals=KEPT, forms=_forms("scipy.fft.rfft2", *_MANY))
def rfft2(z, x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    if s is None and axes == (-2, -1):
        d[x] = np.fft.ifft2(d[z], np.shape(x)[-2:], norm=opposite(norm))
    else:
        d[x] = resized(np.fft.ifft2(d[z], lengths(x, s, axes), axes, norm=opposite(norm)), x)


@adjoint.linear(fft.irfftn, complex="written", values="real", literals=KEPT, forms=_forms("scipy.fft.irfftn", *_MANY))
def irfftn(z, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    chosen = transformed(x, s, axes)
    last = chosen[-1]
    d[x] = resized(doubled(np.fft.rfftn(d[z], axes=chosen, norm=opposite(norm)), np.shape(z)[last], last), x)


@adjoint.linear(fft.irfft2, complex="written", values="real", literals=KEPT, forms=_forms("scipy.fft.irfft2", *_MANY))
def irfft2(z, x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    last = axes[-1]
    d[x] = resized(doubled(np.fft.rfftn(d[z], axes=axes, norm=opposite(norm)), np.shape(z)[last], last), x)


@adjoint.composed(fft.fftshift, forms=(("scipy.fft.fftshift(x)", (5,)), ("scipy.fft.fftshift(x, 0)", (3, 2))))
def fftshift(x, axes=None):
    return np.fft.fftshift(x, axes)


@adjoint.composed(fft.ifftshift, forms=(("scipy.fft.ifftshift(x)", (5,)), ("scipy.fft.ifftshift(x, 0)", (3, 2))))
def ifftshift(x, axes=None):
    return np.fft.ifftshift(x, axes)

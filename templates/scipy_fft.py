"""`scipy.fft`: the transforms of NumPy by another name, cosine and sine transforms by their transposes; on request.

The matrices of the types 2 and 3 are transposes of each other but for the first column of the third, which is halved
(for sines, the last); those of types 1 and 4 are symmetric, the first but for both ends.
"""

import numpy as np
from scipy import fft

from srcgrad.rules import adjoint, constants, d
from srcgrad.runtime.fourier import opposite, resized, weighted
from srcgrad.templates.fourier import _MANY, _ONE, _forms
from srcgrad.templates.refused import declare

constants([fft.fftfreq, fft.rfftfreq, fft.next_fast_len, fft.prev_fast_len])


@adjoint.composed(fft.fft, forms=_forms("scipy.fft.fft", *_ONE))
def fft_of(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return np.fft.fft(x, n, axis, norm)


@adjoint.composed(fft.ifft, forms=_forms("scipy.fft.ifft", *_ONE))
def ifft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return np.fft.ifft(x, n, axis, norm)


@adjoint.composed(fft.rfft, forms=_forms("scipy.fft.rfft", *_ONE))
def rfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return np.fft.rfft(x, n, axis, norm)


@adjoint.composed(fft.irfft, forms=_forms("scipy.fft.irfft", *_ONE))
def irfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return np.fft.irfft(x, n, axis, norm)


@adjoint.composed(fft.hfft, forms=_forms("scipy.fft.hfft", *_ONE))
def hfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return np.fft.hfft(x, n, axis, norm)


@adjoint.composed(fft.ihfft, forms=_forms("scipy.fft.ihfft", *_ONE))
def ihfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return np.fft.ihfft(x, n, axis, norm)


@adjoint.composed(fft.fftn, forms=_forms("scipy.fft.fftn", *_MANY))
def fftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return np.fft.fftn(x, s, axes, norm)


@adjoint.composed(fft.ifftn, forms=_forms("scipy.fft.ifftn", *_MANY))
def ifftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return np.fft.ifftn(x, s, axes, norm)


@adjoint.composed(fft.rfftn, forms=_forms("scipy.fft.rfftn", *_MANY))
def rfftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return np.fft.rfftn(x, s, axes, norm)


@adjoint.composed(fft.irfftn, forms=_forms("scipy.fft.irfftn", *_MANY))
def irfftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return np.fft.irfftn(x, s, axes, norm)


@adjoint.composed(fft.fft2, forms=_forms("scipy.fft.fft2", *_MANY))
def fft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    return np.fft.fft2(x, s, axes, norm)


@adjoint.composed(fft.ifft2, forms=_forms("scipy.fft.ifft2", *_MANY))
def ifft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    return np.fft.ifft2(x, s, axes, norm)


@adjoint.composed(fft.rfft2, forms=_forms("scipy.fft.rfft2", *_MANY))
def rfft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    return np.fft.rfft2(x, s, axes, norm)


@adjoint.composed(fft.irfft2, forms=_forms("scipy.fft.irfft2", *_MANY))
def irfft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    return np.fft.irfft2(x, s, axes, norm)


@adjoint.composed(fft.fftshift, forms=(("scipy.fft.fftshift(x)", (5,)), ("scipy.fft.fftshift(x, 0)", (3, 2))))
def fftshift(x, axes=None):
    return np.fft.fftshift(x, axes)


@adjoint.composed(fft.ifftshift, forms=(("scipy.fft.ifftshift(x)", (5,)), ("scipy.fft.ifftshift(x, 0)", (3, 2))))
def ifftshift(x, axes=None):
    return np.fft.ifftshift(x, axes)


def _types(name):
    """Calls with every type, length and norm."""
    calls = tuple((f"{name}(x, {kind}{norm})", (5,)) for kind in (1, 2, 3, 4) for norm in ("", ", norm='forward'"))
    more = ((f"{name}(x)", (4,)), (f"{name}(x, 3, axis=0)", (4, 2)), (f"{name}(x, 2, 3)", (2, 5)))
    return calls + more + tuple((f"{name}(x, {kind}, 6, norm='ortho')", (5,)) for kind in (1, 2, 3, 4))


WRITTEN = {"type": (1, 2, 3, 4), "norm": (None, "backward", "ortho", "forward"), "orthogonalize": (None,)}


@adjoint.linear(fft.dct, forms=_types("scipy.fft.dct"), literals=WRITTEN, note="Not with `orthogonalize`.")
def dct(z, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    if norm == "ortho":
        d[x] = resized(fft.idct(d[z], type, axis=axis, norm="ortho"), x)
    elif type == 1:
        d[x] = resized(weighted(fft.dct(weighted(d[z], 2.0, 2.0, axis), 1, axis=axis, norm=norm), 0.5, 0.5, axis), x)
    elif type == 2:
        d[x] = resized(fft.dct(weighted(d[z], 2.0, 1.0, axis), 3, axis=axis, norm=norm), x)
    elif type == 3:
        d[x] = resized(weighted(fft.dct(d[z], 2, axis=axis, norm=norm), 0.5, 1.0, axis), x)
    else:
        d[x] = resized(fft.dct(d[z], 4, axis=axis, norm=norm), x)


@adjoint.linear(fft.dst, forms=_types("scipy.fft.dst"), literals=WRITTEN, note="Not with `orthogonalize`.")
def dst(z, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    if norm == "ortho":
        d[x] = resized(fft.idst(d[z], type, axis=axis, norm="ortho"), x)
    elif type == 2:
        d[x] = resized(fft.dst(weighted(d[z], 1.0, 2.0, axis), 3, axis=axis, norm=norm), x)
    elif type == 3:
        d[x] = resized(weighted(fft.dst(d[z], 2, axis=axis, norm=norm), 1.0, 0.5, axis), x)
    else:
        d[x] = resized(fft.dst(d[z], type, axis=axis, norm=norm), x)


@adjoint.linear(fft.idct, forms=_types("scipy.fft.idct"), literals=WRITTEN, note="Not with `orthogonalize`.")
def idct(z, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    other = opposite(norm)
    if norm == "ortho":
        d[x] = resized(fft.dct(d[z], type, axis=axis, norm="ortho"), x)
    elif type == 1:
        d[x] = resized(weighted(fft.dct(weighted(d[z], 2.0, 2.0, axis), 1, axis=axis, norm=other), 0.5, 0.5, axis), x)
    elif type == 2:
        d[x] = resized(weighted(fft.dct(d[z], 2, axis=axis, norm=other), 0.5, 1.0, axis), x)
    elif type == 3:
        d[x] = resized(fft.dct(weighted(d[z], 2.0, 1.0, axis), 3, axis=axis, norm=other), x)
    else:
        d[x] = resized(fft.dct(d[z], 4, axis=axis, norm=other), x)


@adjoint.linear(fft.idst, forms=_types("scipy.fft.idst"), literals=WRITTEN, note="Not with `orthogonalize`.")
def idst(z, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    other = opposite(norm)
    if norm == "ortho":
        d[x] = resized(fft.dst(d[z], type, axis=axis, norm="ortho"), x)
    elif type == 2:
        d[x] = resized(weighted(fft.dst(d[z], 2, axis=axis, norm=other), 1.0, 0.5, axis), x)
    elif type == 3:
        d[x] = resized(fft.dst(weighted(d[z], 1.0, 2.0, axis), 3, axis=axis, norm=other), x)
    else:
        d[x] = resized(fft.dst(d[z], type, axis=axis, norm=other), x)


@adjoint.linear(weighted, forms=(("weighted(x, 2.0, 0.5)", (4,)), ("weighted(x, 2.0, 3.0, 0)", (1, 2))))
def weighted_adjoint(z, g, first, last, axis=-1):
    d[g] = weighted(d[z], first, last, axis)


declare(
    fft,
    "scipy.fft",
    "dctn dstn idctn idstn hfft2 ihfft2 hfftn ihfftn fht ifht fhtoffset",
    "it has no rule; use transforms along one axis after the other",
)
declare(
    fft,
    "scipy.fft",
    "set_backend skip_backend set_global_backend register_backend set_workers get_workers",
    "it changes how transforms run",
)

"""Transforms of `scipy.fft` by their transposes: Fourier, cosine and sine, along several axes; on request."""

import numpy as np
from scipy import fft

from srcgrad.core.rules import adjoint, constants, d, declare
from srcgrad.runtime.signals import doubled, lengths, opposite, resized, transformed, waves_transpose, weighted
from srcgrad.templates.numpy.signals import MANY, ONE, fourier_forms

constants([fft.fftfreq, fft.rfftfreq, fft.next_fast_len, fft.prev_fast_len])
KEPT = {"overwrite_x": (False,)}  # the argument stays as it is


@adjoint.linear(fft.fft, complex="written", values="complex", literals=KEPT, forms=fourier_forms("scipy.fft.fft", *ONE))
def fft_of(z, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    if n is None and axis == -1:
        d[x] = np.fft.ifft(d[z], norm=opposite(norm))
    elif n is None:
        d[x] = np.fft.ifft(d[z], axis=axis, norm=opposite(norm))
    else:
        d[x] = resized(np.fft.ifft(d[z], axis=axis, norm=opposite(norm)), x)


@adjoint.linear(
    fft.ifft, complex="written", values="complex", literals=KEPT, forms=fourier_forms("scipy.fft.ifft", *ONE)
)
def ifft(z, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    if n is None and axis == -1:
        d[x] = np.fft.fft(d[z], norm=opposite(norm))
    elif n is None:
        d[x] = np.fft.fft(d[z], axis=axis, norm=opposite(norm))
    else:
        d[x] = resized(np.fft.fft(d[z], axis=axis, norm=opposite(norm)), x)


@adjoint.linear(
    fft.rfft, complex="written", values="complex", literals=KEPT, forms=fourier_forms("scipy.fft.rfft", *ONE)
)
def rfft(z, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    if n is None and axis == -1:
        d[x] = np.fft.ifft(d[z], np.shape(x)[-1], norm=opposite(norm))
    elif n is None:
        d[x] = np.fft.ifft(d[z], np.shape(x)[axis], axis, norm=opposite(norm))
    elif n is not None:
        d[x] = resized(np.fft.ifft(d[z], n, axis, norm=opposite(norm)), x)
    else:  # known when it runs
        d[x] = resized(np.fft.ifft(d[z], lengths(x, (n,), (axis,))[0], axis, norm=opposite(norm)), x)


@adjoint.linear(
    fft.irfft, complex="written", values="real", literals=KEPT, forms=fourier_forms("scipy.fft.irfft", *ONE)
)
def irfft(z, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    if n is None and axis == -1:
        d[x] = doubled(np.fft.rfft(d[z], norm=opposite(norm)), np.shape(z)[-1])
    else:
        d[x] = resized(doubled(np.fft.rfft(d[z], axis=axis, norm=opposite(norm)), np.shape(z)[axis], axis), x)


@adjoint.linear(fft.hfft, complex="written", values="real", literals=KEPT, forms=fourier_forms("scipy.fft.hfft", *ONE))
def hfft(z, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    same = opposite(opposite(norm))
    if n is None and axis == -1:
        d[x] = np.conj(doubled(np.fft.rfft(d[z], norm=same), np.shape(z)[-1]))
    else:
        d[x] = np.conj(resized(doubled(np.fft.rfft(d[z], axis=axis, norm=same), np.shape(z)[axis], axis), x))


@adjoint.linear(
    fft.ihfft, complex="written", values="complex", literals=KEPT, forms=fourier_forms("scipy.fft.ihfft", *ONE)
)
def ihfft(z, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    if n is None and axis == -1:
        d[x] = np.fft.fft(d[z], np.shape(x)[-1], norm=opposite(norm))
    elif n is None:
        d[x] = np.fft.fft(d[z], np.shape(x)[axis], axis, norm=opposite(norm))
    elif n is not None:
        d[x] = resized(np.fft.fft(d[z], n, axis, norm=opposite(norm)), x)
    else:  # known when it runs
        d[x] = resized(np.fft.fft(d[z], lengths(x, (n,), (axis,))[0], axis, norm=opposite(norm)), x)


@adjoint.linear(
    fft.fftn, complex="written", values="complex", literals=KEPT, forms=fourier_forms("scipy.fft.fftn", *MANY)
)
def fftn(z, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    if s is None and axes is None:
        d[x] = np.fft.ifftn(d[z], norm=opposite(norm))
    elif s is None:
        d[x] = np.fft.ifftn(d[z], axes=axes, norm=opposite(norm))
    else:
        d[x] = resized(np.fft.ifftn(d[z], axes=transformed(x, s, axes), norm=opposite(norm)), x)


@adjoint.linear(
    fft.ifftn,
    complex="written",
    values="complex",
    literals=KEPT,
    forms=fourier_forms("scipy.fft.ifftn", *MANY),
)
def ifftn(z, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    if s is None and axes is None:
        d[x] = np.fft.fftn(d[z], norm=opposite(norm))
    elif s is None:
        d[x] = np.fft.fftn(d[z], axes=axes, norm=opposite(norm))
    else:
        d[x] = resized(np.fft.fftn(d[z], axes=transformed(x, s, axes), norm=opposite(norm)), x)


@adjoint.linear(
    fft.fft2, complex="written", values="complex", literals=KEPT, forms=fourier_forms("scipy.fft.fft2", *MANY)
)
def fft2(z, x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    if s is None and axes == (-2, -1):
        d[x] = np.fft.ifft2(d[z], norm=opposite(norm))
    elif s is None:
        d[x] = np.fft.ifft2(d[z], axes=axes, norm=opposite(norm))
    else:
        d[x] = resized(np.fft.ifft2(d[z], axes=axes, norm=opposite(norm)), x)


@adjoint.linear(
    fft.ifft2,
    complex="written",
    values="complex",
    literals=KEPT,
    forms=fourier_forms("scipy.fft.ifft2", *MANY),
)
def ifft2(z, x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    if s is None and axes == (-2, -1):
        d[x] = np.fft.fft2(d[z], norm=opposite(norm))
    elif s is None:
        d[x] = np.fft.fft2(d[z], axes=axes, norm=opposite(norm))
    else:
        d[x] = resized(np.fft.fft2(d[z], axes=axes, norm=opposite(norm)), x)


@adjoint.linear(
    fft.rfftn,
    complex="written",
    values="complex",
    literals=KEPT,
    forms=fourier_forms("scipy.fft.rfftn", *MANY),
)
def rfftn(z, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    if s is None:
        d[x] = np.fft.ifftn(d[z], lengths(x, s, axes), transformed(x, s, axes), norm=opposite(norm))
    else:
        d[x] = resized(np.fft.ifftn(d[z], lengths(x, s, axes), transformed(x, s, axes), norm=opposite(norm)), x)


@adjoint.linear(
    fft.rfft2,
    complex="written",
    values="complex",
    literals=KEPT,
    forms=fourier_forms("scipy.fft.rfft2", *MANY),
)
def rfft2(z, x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    if s is None and axes == (-2, -1):
        d[x] = np.fft.ifft2(d[z], np.shape(x)[-2:], norm=opposite(norm))
    else:
        d[x] = resized(np.fft.ifft2(d[z], lengths(x, s, axes), axes, norm=opposite(norm)), x)


@adjoint.linear(
    fft.irfftn, complex="written", values="real", literals=KEPT, forms=fourier_forms("scipy.fft.irfftn", *MANY)
)
def irfftn(z, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    chosen = transformed(x, s, axes)
    last = chosen[-1]
    d[x] = resized(doubled(np.fft.rfftn(d[z], axes=chosen, norm=opposite(norm)), np.shape(z)[last], last), x)


@adjoint.linear(
    fft.irfft2, complex="written", values="real", literals=KEPT, forms=fourier_forms("scipy.fft.irfft2", *MANY)
)
def irfft2(z, x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    last = axes[-1]
    d[x] = resized(doubled(np.fft.rfftn(d[z], axes=axes, norm=opposite(norm)), np.shape(z)[last], last), x)


@adjoint.composed(fft.fftshift, forms=(("scipy.fft.fftshift(x)", (5,)), ("scipy.fft.fftshift(x, 0)", (3, 2))))
def fftshift(x, axes=None):
    return np.fft.fftshift(x, axes)


@adjoint.composed(fft.ifftshift, forms=(("scipy.fft.ifftshift(x)", (5,)), ("scipy.fft.ifftshift(x, 0)", (3, 2))))
def ifftshift(x, axes=None):
    return np.fft.ifftshift(x, axes)


WRITTEN = {"orthogonalize": (None,), "overwrite_x": (False,)}


def _forms(name):
    """Calls with every type and norm, axes and lengths."""
    types = tuple((f"{name}(x, {kind}{norm})", (3, 4)) for kind in (1, 2, 3, 4) for norm in ("", ", norm='forward'"))
    ortho = tuple((f"{name}(x, {kind}, norm='ortho')", (4,)) for kind in (1, 2, 3, 4))
    return (*types, *ortho, (f"{name}(x, axes=(0,))", (3, 2)), (f"{name}(x, 2, (2, 5))", (3, 4)))


@adjoint.linear(fft.dctn, forms=_forms("scipy.fft.dctn"), literals=WRITTEN, note="Not with `orthogonalize`.")
def dctn(z, x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None):
    d[x] = waves_transpose(d[z], x, "dctn", type, s, axes, norm)


@adjoint.linear(fft.dstn, forms=_forms("scipy.fft.dstn"), literals=WRITTEN, note="Not with `orthogonalize`.")
def dstn(z, x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None):
    d[x] = waves_transpose(d[z], x, "dstn", type, s, axes, norm)


@adjoint.linear(fft.idctn, forms=_forms("scipy.fft.idctn"), literals=WRITTEN, note="Not with `orthogonalize`.")
def idctn(z, x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None):
    d[x] = waves_transpose(d[z], x, "idctn", type, s, axes, norm)


@adjoint.linear(fft.idstn, forms=_forms("scipy.fft.idstn"), literals=WRITTEN, note="Not with `orthogonalize`.")
def idstn(z, x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None):
    d[x] = waves_transpose(d[z], x, "idstn", type, s, axes, norm)


@adjoint.linear(
    waves_transpose,
    forms=(
        ("waves_transpose(x, y, 'dctn')", (3, 4), (3, 4)),
        ("waves_transpose(x, y, 'dstn', 3)", (3, 4), (3, 4)),
        ("waves_transpose(x, y, 'idctn', 1)", (3, 4), (3, 4)),
        ("waves_transpose(x, y, 'idstn', norm='ortho')", (3, 4), (3, 4)),
    ),
    literals={"name": ("dctn", "dstn", "idctn", "idstn")},
)
def waves_transpose_adjoint(z, g, x, name, type=2, s=None, axes=None, norm=None):
    if name == "dctn":
        d[g] = fft.dctn(d[z], type, s, axes, norm)
    elif name == "dstn":
        d[g] = fft.dstn(d[z], type, s, axes, norm)
    elif name == "idctn":
        d[g] = fft.idctn(d[z], type, s, axes, norm)
    else:
        d[g] = fft.idstn(d[z], type, s, axes, norm)


def _types(name):
    """Calls with every type, length and norm."""
    calls = tuple((f"{name}(x, {kind}{norm})", (5,)) for kind in (1, 2, 3, 4) for norm in ("", ", norm='forward'"))
    more = ((f"{name}(x)", (4,)), (f"{name}(x, 3, axis=0)", (4, 2)), (f"{name}(x, 2, 3)", (2, 5)))
    return calls + more + tuple((f"{name}(x, {kind}, 6, norm='ortho')", (5,)) for kind in (1, 2, 3, 4))


KEPT_AND_PLAIN = {
    "type": (1, 2, 3, 4),
    "norm": (None, "backward", "ortho", "forward"),
    "orthogonalize": (None,),
    "overwrite_x": (False,),
}


@adjoint.linear(fft.dct, forms=_types("scipy.fft.dct"), literals=KEPT_AND_PLAIN, note="Not with `orthogonalize`.")
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


@adjoint.linear(fft.dst, forms=_types("scipy.fft.dst"), literals=KEPT_AND_PLAIN, note="Not with `orthogonalize`.")
def dst(z, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    if norm == "ortho":
        d[x] = resized(fft.idst(d[z], type, axis=axis, norm="ortho"), x)
    elif type == 2:
        d[x] = resized(fft.dst(weighted(d[z], 1.0, 2.0, axis), 3, axis=axis, norm=norm), x)
    elif type == 3:
        d[x] = resized(weighted(fft.dst(d[z], 2, axis=axis, norm=norm), 1.0, 0.5, axis), x)
    else:
        d[x] = resized(fft.dst(d[z], type, axis=axis, norm=norm), x)


@adjoint.linear(fft.idct, forms=_types("scipy.fft.idct"), literals=KEPT_AND_PLAIN, note="Not with `orthogonalize`.")
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


@adjoint.linear(fft.idst, forms=_types("scipy.fft.idst"), literals=KEPT_AND_PLAIN, note="Not with `orthogonalize`.")
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
    "i?hfft[2n] i?fht fhtoffset",
    "it has no rule; use transforms along one axis after the other",
)
declare(
    fft,
    "scipy.fft",
    ".*_backend .*_workers",
    "it changes how transforms run",
)

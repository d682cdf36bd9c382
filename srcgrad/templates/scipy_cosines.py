"""Cosine and sine transforms of `scipy.fft` by their transposes; on request.

The matrices of the types 2 and 3 are transposes of each other but for the first column of the third, which is halved
(for sines, the last); those of types 1 and 4 are symmetric, the first but for both ends.
"""

from scipy import fft

from srcgrad.core.rules import adjoint, d
from srcgrad.runtime.fourier import opposite, resized, weighted
from srcgrad.templates.refused import declare


def _types(name):
    """Calls with every type, length and norm."""
    calls = tuple((f"{name}(x, {kind}{norm})", (5,)) for kind in (1, 2, 3, 4) for norm in ("", ", norm='forward'"))
    more = ((f"{name}(x)", (4,)), (f"{name}(x, 3, axis=0)", (4, 2)), (f"{name}(x, 2, 3)", (2, 5)))
    return calls + more + tuple((f"{name}(x, {kind}, 6, norm='ortho')", (5,)) for kind in (1, 2, 3, 4))


WRITTEN = {
    "type": (1, 2, 3, 4),
    "norm": (None, "backward", "ortho", "forward"),
    "orthogonalize": (None,),
    "overwrite_x": (False,),
}


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
    "hfft2 ihfft2 hfftn ihfftn fht ifht fhtoffset",
    "it has no rule; use transforms along one axis after the other",
)
declare(
    fft,
    "scipy.fft",
    "set_backend skip_backend set_global_backend register_backend set_workers get_workers",
    "it changes how transforms run",
)

"""Cosine and sine transforms of `scipy.fft` along several axes, by their transposes; on request."""

from scipy import fft

from srcgrad.core.rules import adjoint, d
from srcgrad.runtime.cosines import waves_transpose

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

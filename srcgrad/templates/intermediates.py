"""Values on their way through a function: hooks on their adjoints, probes that watch, casts."""

from srcgrad.core.rules import adjoint, d, tangent
from srcgrad.runtime.casts import cast
from srcgrad.runtime.hooks import beyond_hooks, hook, hooked
from srcgrad.runtime.probes import probe, probed


@adjoint(hook, forms=(("hook(x)", (3,)), ("hook(x)", ())), second=False, note="The functions see the adjoint.")
def hook_adjoint(y, x, *fns):
    d[x] = hooked(d[y], *fns)


@tangent(hook)
def hook_tangent(y, x, *fns):
    d[y] = d[x]


@adjoint(hooked, forms=(("hooked(x)", (0,)),), second=False, note="Its derivative is not known: it raises.")
def hooked_adjoint(z, x_bar, *fns):
    d[x_bar] = beyond_hooks(d[z])


@tangent(hooked)
def hooked_tangent(z, x_bar, *fns):
    d[z] = beyond_hooks(d[x_bar])


@adjoint.linear(beyond_hooks, forms=(("beyond_hooks(x)", (0,)),), second=False, note="It raises, unless empty.")
def beyond_hooks_adjoint(z, g):
    d[g] = beyond_hooks(d[z])


@adjoint.linear(probe, forms=(("probe(x, 0)", (3,)), ("probe(x, 0)", ())))
def probe_adjoint(y, x, place):
    d[x] = probed(d[y], place)


@adjoint.linear(probed, forms=(("probed(x, 0)", (3,)), ("probed(x, 0)", ())))
def probed_adjoint(y, x_bar, place):
    d[x_bar] = d[y]


@adjoint(cast, forms=(("cast(x, np.float64)", (3,)),), note="Both dtypes are floating.")
def cast_adjoint(z, x, dtype):
    d[x] = d[z].astype(x.dtype)


@tangent(cast)
def cast_tangent(z, x, dtype):
    d[z] = d[x].astype(z.dtype)

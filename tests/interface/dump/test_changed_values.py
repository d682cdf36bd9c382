"""Values of a dumped module that the module changes behind their assignment, held against the module itself."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest

from srcgrad.backend.text import import_effects
from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.dump import dump

X = np.array([0.5, -1.2, 2.0])
HEAD = "import numpy as np\n"
USE = "\ndef f(x):\n    return np.sum(W * x * x)\n"

CHANGED = {
    "fill_used": """
W = np.ones(3)
q = W.fill(3.0)
""",
    "sort": """
W = np.array([3.0, 1.0, 2.0])
W.sort()
""",
    "aug_slice": """
W = np.ones(3)
W[1:] += 1.0
""",
    "T": """
W0 = np.ones((3, 2))
W0.T[0] = 4.0

def f(x):
    return np.sum(W0[:, 0] * x * x)
""",
    "flat": """
W = np.ones(3)
W.flat[0] = 4.0
""",
    "ravel": """
W = np.ones(3)
np.ravel(W)[0] = 4.0
""",
    "copyto_if": """
W = np.ones(3)
if len(W) > 2:
    np.copyto(W, [2.0, 3.0, 4.0])
""",
    "put_for": """
W = np.ones(3)
for i in range(2):
    np.put(W, i, 2.0 + i)
""",
    "place_try": """
W = np.ones(3)
try:
    np.place(W, W > 0.5, [7.0])
except ValueError:
    pass
""",
    "shuffle_named": """
W = np.arange(3.0)
rng = np.random.default_rng(5)
rng.shuffle(W)
""",
    "out_with": """
W = np.ones(3)
with np.errstate(all='ignore'):
    q = np.multiply(W, 3.0, out=W)
""",
    "out_pos": """
W = np.ones(3)
q = np.multiply(W, 3.0, W)
""",
    "ufunc_at": """
W = np.ones(3)
np.add.at(W, [0, 0, 1], 1.0)
""",
    "fn_fill": """
W = np.ones(3)
def reset(a):
    a.fill(2.0)
reset(W)
""",
    "fn_set": """
W = np.ones(3)
def setit(a):
    a[...] = 5.0
setit(W)
""",
    "fn_star2": """
W = np.ones(3)
def setit(a, v):
    a[:] = v
args = (W, 2.0)
q = setit(*args)
""",
    "fn_kw2": """
W = np.ones(3)
def setit(w=None):
    w[0] = 5.0
opts = {'w': W}
q = setit(**opts)
""",
    "fn_closure": """
W = np.ones(3)
def maker(a):
    def go():
        a[0] = 7.0
    return go
go = maker(W)
go()
""",
    "fn_global_fill": """
W = np.ones(3)
def init():
    W.fill(4.0)
init()
""",
    "fn_lambda": """
W = np.ones(3)
clear = lambda a: a.fill(0.5)
clear(W)
""",
    "fn_map": """
A = [np.ones(3), np.ones(3)]
def dbl(a):
    a *= 2.0
    return a
B = list(map(dbl, A))

def f(x):
    return np.sum(A[0] * x * x)
""",
    "class_writes": """
W = np.ones(3)
class M:
    def __init__(self, w):
        self.w = w
    def scale(self, s):
        self.w *= s
m = M(W)
m.scale(3.0)
""",
    "class_super": """
W = np.ones(3)
class B:
    def __init__(self, w):
        self.w = w
class M(B):
    def __init__(self, w):
        super().__init__(w)
        self.w[2] = 8.0
m = M(W)
""",
    "class_prop": """
W = np.ones(3)
class M:
    def __init__(self, w):
        self._w = w
    @property
    def w(self):
        return self._w
M(W).w[0] = 3.0
""",
    "class_iadd": """
W = np.ones(3)
class M:
    def __init__(self, w):
        self.w = w
    def __iadd__(self, o):
        self.w += o
        return self
m = M(W)
m += 2.0
""",
    "dataclass_post": """
from dataclasses import dataclass
@dataclass
class P:
    w: object
    def __post_init__(self):
        self.w *= 3.0
W = np.ones(3)
p = P(W)
""",
    "with_as": """
import contextlib
W = np.ones(3)
with contextlib.nullcontext(W) as v:
    v[0] = 5.0
""",
    "match": """
W = np.ones(3)
P = ('scale', W)
match P:
    case ('scale', w):
        w *= 2.0
""",
    "for_target": """
W = np.ones(3)
for W[0] in (3.0, 4.0):
    pass
""",
    "for_rows": """
A = np.ones((2, 3))
for row in A:
    row *= 2.0

def f(x):
    return np.sum(A[1] * x * x)
""",
    "for_items": """
D = {'a': np.ones(3), 'b': np.ones(3)}
for k, v in D.items():
    v += len(k)

def f(x):
    return np.sum(D['a'] * x * x)
""",
    "for_keys": """
D = {'a': np.ones(3), 'b': 2 * np.ones(3)}
for k in D:
    D[k] = D[k] / np.sum(D[k])

def f(x):
    return np.sum(D['a'] * D['b'] * x * x)
""",
    "list_comp": """
L = [3.0, 2.0]
q = [L.append(v) for v in [1.0]]

def f(x):
    return np.sum(np.array(L) * x * x)
""",
    "list_layers": """
L = [np.ones(3)]
for i in range(2):
    L.append(L[-1] * 2)

def f(x):
    for w in L:
        x = x * w
    return np.sum(x * x)
""",
    "list_del": """
L = [3.0, 2.0, 1.0, 0.0]
del L[-1]

def f(x):
    return np.sum(np.array(L) * x * x)
""",
    "dict_nested": """
D = {'net': {'w': np.ones(3)}}
D['net']['w'][1] = 6.0

def f(x):
    return np.sum(D['net']['w'] * x * x)
""",
    "dict_get": """
D = {'w': np.ones(3)}
D.get('w')[0] = 5.0

def f(x):
    return np.sum(D['w'] * x * x)
""",
    "dict_ior": """
D = {'a': 1.0}
D |= {'a': 5.0}

def f(x):
    return np.sum(x * x) * D['a']
""",
    "deco_reg": """
WEIGHTS = []
def register(v):
    def deco(fn):
        WEIGHTS.append(v)
        return fn
    return deco
@register(2.0)
def g(x):
    return x

def f(x):
    return np.sum(x * x) * sum(WEIGHTS)
""",
    "walrus": """
W = np.ones(3)
if (v := W) is not None:
    v[0] = 3.0
""",
    "calibrate": """
W = np.zeros(3)
for it in range(10):
    g = W - np.array([1.0, 2.0, 3.0])
    W -= 0.1 * g
    print(it, np.sum(g * g))
""",
    "progress": """
W = np.array([0.2, 0.5, 0.9])
for k in range(3):
    W[k] = W[k] / (1.0 + k)
    print("step", k)
SCALE = W.sum()

def f(x):
    return np.sum(np.tanh(x * W)) / SCALE
""",
    "methods_of_a_capital_name": """
D = np.array([1.0, 2.0, 4.0])
D -= 0.5
MU = D.mean()
C = D.copy()
W = D.T

def f(x):
    return np.sum((x - MU) * C * x) + np.sum(W * x)
""",
    "coeffs": """
c = [0.0] * 3
for k in range(3):
    c[k] = 1.0 / (k + 1)

def f(x):
    return c[0] * x[0] + c[1] * x[1] ** 2 + c[2] * x[2] ** 3
""",
    "binom": """
B = [[1.0]]
for n in range(1, 4):
    prev = B[-1]
    B.append([1.0] + [prev[k] + prev[k + 1] for k in range(len(prev) - 1)] + [1.0])

def f(x):
    return np.sum(np.array(B[3][:3]) * x * x)
""",
    "stencil": """
A = np.zeros((3, 3))
for i in range(3):
    A[i, i] = 2.0
    if i > 0:
        A[i, i - 1] = -1.0
        A[i - 1, i] = -1.0

def f(x):
    return x @ A @ x
""",
    "nan_to_num": """
W = np.array([1.0, np.nan, 3.0])
q = np.nan_to_num(W, copy=False)
""",
    "nditer": """
W = np.ones(3)
with np.nditer(W, op_flags=['readwrite']) as it:
    for e in it:
        e[...] = 3.0
""",
    "resize": """
W = np.ones(2)
W.resize(3)
""",
    "heappop": """
import heapq
L = [1.0, 3.0, 2.0, 5.0]
m = heapq.heappop(L)

def f(x):
    return np.sum(np.array(L) * x * x)
""",
    "operator": """
import operator
W = np.ones(3)
operator.setitem(W, 0, 5.0)
V = operator.iadd(W, 1.0)
""",
    "reduce": """
from functools import reduce
W = np.ones(3)
def acc(a, b):
    a += b
    return a
q = reduce(acc, [W, 2.0, 3.0])
""",
    "partial_w": """
from functools import partial
W = np.ones(3)
def setv(a, v):
    a[:] = v
g = partial(setv, W)
g(3.0)
""",
    "bound_method": """
W = np.ones(3)
g = W.fill
g(3.0)
""",
    "iter_next": """
A = [np.ones(3)]
it = iter(A)
v = next(it)
v[0] = 5.0

def f(x):
    return np.sum(A[0] * x * x)
""",
    "gen": """
A = [np.ones(3)]
def each():
    for a in A:
        yield a
for a in each():
    a *= 2.0

def f(x):
    return np.sum(A[0] * x * x)
""",
    "split": """
W = np.ones(4)
a, b = np.split(W, 2)
a[0] = 7.0

def f(x):
    return np.sum(W[:3] * x * x)
""",
    "early_read2": """
W = np.ones(3)
V = W * 2.0
W[0] = 9.0

def f(x):
    return np.sum(V * x * x) + np.sum(W * x)
""",
    "rng_list": """
rng = np.random.default_rng(0)
P = [rng.normal(size=3) for _ in range(2)]
q = rng.normal()
W = rng.normal(size=3)

def f(x):
    return np.sum(P[0] * x * W)
""",
    "helper_own": (
        """
from h import W
""",
        {
            "h": """
W = np.ones(3)
for i in range(3):
    W[i] = i + 2.0
"""
        },
    ),
    "helper_fn": (
        """
from h import reset
W = np.ones(3)
reset(W)
""",
        {
            "h": """
def reset(a):
    a[:] = 4.0
"""
        },
    ),
    "rebind2": """
W = np.ones(3)
W = W / W.sum()
""",
    "rebind3": """
base = 1.0
k = 2.0 * base
base = 3.0

def f(x):
    return np.sum(x * x) * k
""",
    "aug_num": """
k = 1.0
k += 1.0

def f(x):
    return np.sum(x * x) * k
""",
    "cond": """
W = np.ones(3)
if W.sum() > 2:
    k = 3.0
else:
    k = 4.0

def f(x):
    return np.sum(x * x) * k
""",
    "newton": """
r = 1.0
for _ in range(20):
    r = r - (r * r - 2.0) / (2.0 * r)

def f(x):
    return np.sum(x * x) * r
""",
    "class_attr2": """
class C:
    w = [1.0, 2.0, 3.0]
W = C.w
C.w[0] = 9.0

def f(x):
    return np.sum(np.array(W) * x * x)
""",
    "cache": """
_cache = {}
def table(n):
    if n not in _cache:
        _cache[n] = np.arange(1.0, n + 1)
    return _cache[n]
W = table(3)
table(3)[0] = 5.0
""",
    "lazy_thunks": """
W = np.ones(3)
steps = [lambda: W.fill(2.0), lambda: W.__imul__(3.0)]
for s in steps:
    s()
""",
    "vectorize": """
W = np.ones(3)
def put(i):
    W[int(i)] = 2.0 * i
    return 0.0
q = np.vectorize(put)([0, 1, 2])
""",
    "sorted_key": """
W = np.ones(3)
def key(v):
    W[0] += v
    return v
q = sorted([1.0, 2.0], key=key)
""",
    "except": """
W = np.ones(3)
try:
    1 / 0
except ZeroDivisionError:
    W[:] = 2.0
""",
    "init_subclass": """
REG = []
class B:
    def __init_subclass__(cls, **kw):
        REG.append(2.0)
class D(B):
    pass

def f(x):
    return np.sum(x * x) * sum(REG)
""",
    "buffer": """
W = np.ones(3)
m = memoryview(W)
m[0] = 4.0
""",
    "opt_model2": """
class SGD:
    def __init__(self, params, lr):
        self.params, self.lr = params, lr
    def step(self, grads):
        for p, g in zip(self.params, grads):
            p -= self.lr * g
W = np.ones(3)
opt = SGD([W], 0.1)
for _ in range(3):
    opt.step([W - 2.0])
""",
    "semicolons": """
W = np.ones(3); W[0] = 2.0; W[1] = 3.0
""",
    "multiline_str": """
W = np.ones(3)
for i in range(3):
    note = '''a
b'''
    W[i] = len(note)
""",
    "decorated_fn": """
import functools
def twice(fn):
    @functools.wraps(fn)
    def inner(a):
        fn(a)
        fn(a)
    return inner
@twice
def bump(a):
    a += 1.0
W = np.ones(3)
bump(W)
""",
    "rec": """
W = np.ones(3)
def fillrec(a, k):
    if k < len(a):
        a[k] = k
        fillrec(a, k + 1)
fillrec(W, 0)
""",
    "default_call": """
W = np.ones(3)
def i():
    W[2] = 6.0
    return 0
def g(a=i()):
    return a
""",
    "class_body": """
W = np.ones(3)
class K:
    W[1] = 5.0
    x = W.fill
""",
    "prop_setter": """
class M:
    def __init__(self, w):
        self._w = w
    @property
    def w(self):
        return self._w
    @w.setter
    def w(self, v):
        self._w[:] = v
W = np.ones(3)
M(W).w = 3.0
""",
    "ctxmanager": """
from contextlib import contextmanager
W = np.ones(3)
@contextmanager
def scaled(a):
    a *= 2.0
    yield a
    a += 1.0
with scaled(W) as v:
    v[0] = 9.0
""",
    "early_chain2": """
A = np.ones(3)
B = A + 1
C = B * 2
B[0] = 9.0
A[1] = 7.0

def f(x):
    return np.sum(C * x * x) + np.sum(A * x) + np.sum(B * x)
""",
    "decorated_val": """
import functools
@functools.lru_cache
def w():
    return np.ones(3)
w()[0] = 4.0
W = w()
""",
    "scipy_overwrite": """
import scipy.linalg as sl
A = np.eye(3) * 2.0 + 1.0
b = np.ones(3)
s = sl.solve(A.copy(), b, overwrite_b=True)
W = b
""",
    "init_subobj": """
class Layer:
    def __init__(self, w):
        self.w = w
class Net:
    def __init__(self):
        self.layers = []
    def add(self, l):
        self.layers.append(l)
    def scale(self, s):
        for l in self.layers:
            l.w *= s
W = np.ones(3)
net = Net()
net.add(Layer(W))
net.scale(2.5)
""",
    "dispatch": """
W = np.ones(3)
def dbl(a):
    a *= 2.0
def half(a):
    a *= 0.5
OPS = {'d': dbl, 'h': half}
for k in 'dd':
    OPS[k](W)
""",
    "callbacks": """
hooks = []
def on(fn):
    hooks.append(fn)
    return fn
W = np.ones(3)
@on
def grow():
    W[:] = 2.0
for h in hooks:
    h()
""",
    "tol_loop": """
W = np.ones(3)
err = 1.0
while err > 1e-6:
    new = 0.5 * (W + 2.0 / W)
    err = np.abs(new - W).max()
    W = new
""",
    "exc_loop": """
W = np.ones(3)
for t in ['1', 'x', '3']:
    try:
        v = float(t)
    except ValueError:
        continue
    W *= v
""",
    "mlp": """
rng = np.random.default_rng(1)
sizes = [3, 4, 1]
params = []
for a, b in zip(sizes[:-1], sizes[1:]):
    params.append((rng.normal(size=(b, a)) / np.sqrt(a), np.zeros(b)))

def f(x):
    h = x
    for w, b in params:
        h = np.tanh(w @ h + b)
    return np.sum(h)
""",
    "name_clash_fn": """
value_of_W = 3.0
W = np.ones(3)
W[0] = 2.0

def f(x):
    return np.sum(W * x * x) * value_of_W
""",
    "clash_i": """
i = 5
W = np.zeros(3)
for i in range(3):
    W[i] = i

def f(x):
    return np.sum(W * x * x) * i
""",
    "inherit_list": """
class L2(list):
    pass
W = np.ones(3)
l = L2([W])
l[0][0] = 6.0
""",
    "getattr_dyn": """
W = np.ones(3)
for n in ('fill',):
    getattr(W, n)(3.0)
""",
    "sum_lists": """
A = [[np.ones(3)], [np.ones(3) * 2]]
B = sum(A, [])
B[1][0] = 7.0

def f(x):
    return np.sum(A[1][0] * x * x)
""",
    "list_mul": """
A = [[0.0] * 3] * 2
A[0][1] = 4.0

def f(x):
    return np.sum(np.array(A[1]) * x * x) + x[0]
""",
}
UNCHANGED = {
    "slice_list2": """
L = [1.0, 2.0, 3.0]
M = L[:2]
M.append(9.0)

def f(x):
    return np.sum(np.array(L) * x * x)
""",
    "beside_key": """
W = np.ones(3)
P = {'w': W, 'log': []}
P['log'].append(1.0)
""",
    "class_copies2": """
W = np.ones(3)
class M:
    def __init__(self, w):
        self.w = np.array(w)
    def step(self):
        self.w[0] = 2.0
m = M(W)
m.step()
""",
    "loop_minus2": """
W = np.ones(3)
y = np.zeros(3)
for _ in range(3):
    y = y - W
    y *= 2.0
""",
    "only_key_read": """
P = {'w': np.ones(3)}
Q = {}
Q['a'] = P['w'] * 2.0
Q['a'][0] = 1.0

def f(x):
    return np.sum(P['w'] * x * x)
""",
    "unused_setter_m": """
REG = [1.0, 2.0, 3.0]
def add(v):
    REG.append(v)

def f(x):
    return np.sum(np.array(REG) * x * x)
""",
    "main_guard": """
W = np.ones(3)

def f(x):
    return np.sum(W * x * x)

if __name__ == '__main__':
    W[0] = 5.0
    print(f(W))
""",
    "logger": """
import logging
log = logging.getLogger(__name__)
log.setLevel(logging.INFO)
W = np.ones(3)
log.info('w %s', W)
""",
    "fancy_copy2": """
W = np.array([3.0, 1.0, 2.0])
idx = np.array([0, 2])
S = W[idx]
S[0] = 7.0
""",
    "mask_copy": """
W = np.array([3.0, 1.0, 2.0])
S = W[W > 1.5]
S *= 2.0
""",
    "dataclass_reads": """
from dataclasses import dataclass
@dataclass
class P:
    w: object
    n: int
W = np.ones(3)
p = P(W, 3)
p.n = 4
""",
    "deepcopy": """
import copy
P = {'w': [1.0, 2.0, 3.0]}
Q = copy.deepcopy(P)
Q['w'][0] = 5.0

def f(x):
    return np.sum(np.array(P['w']) * x * x)
""",
    "func_local": """
W = np.ones(3)
def norm(v):
    v = v * 2.0
    v[0] = 1.0
    return v
n = norm(W)
""",
    "tolist": """
W = np.ones(3)
L = W.tolist()
L[0] = 5.0
""",
    "register_deco_only": """
REG = {}
def register(fn):
    REG[fn.__name__] = fn
    return fn
@register
def sq(v):
    return v * v
W = np.ones(3)

def f(x):
    return np.sum(W * sq(x))
""",
    "memo_unused": """
import functools
@functools.lru_cache(None)
def fact(n):
    return 1 if n < 2 else n * fact(n - 1)
W = np.array([1.0 / fact(k) for k in range(3)])
""",
    "class_reads": """
W = np.ones(3)
class M:
    def __init__(self, w):
        self.w = w
        self.n = 0
    def count(self):
        self.n += 1
        return self.w.sum()
m = M(W)
m.count()
""",
    "enumerate_read": """
W = np.ones(3)
d = {}
for i, v in enumerate(W):
    d[i] = v
""",
    "fmt": """
W = np.ones(3)
name = f'{W[0]:.2f}'
name += '!'
""",
    "rng_named": """
rng = np.random.default_rng(3)
W = rng.normal(size=3)
""",
    "helper_star": (
        """
from h import *
""",
        {
            "h": """
W = np.array([1.0, 2.0, 4.0])
_x = 3
"""
        },
    ),
    "partial_reads": """
from functools import partial
W = np.ones(3)
g = partial(np.dot, W)
v = g(W)
v += 1
""",
}
REFUSED = {
    "sysmod_name": """
import sys
W = np.ones(3)
sys.modules['model'].W = np.full(3, 2.0)
""",
    "shuffle_global": """
W = np.arange(3.0)
np.random.seed(4)
np.random.shuffle(W)
""",
    "globals_update": """
W = np.ones(3)
globals().update(W=np.full(3, 2.0))
""",
    "setattr_mod2": """
import sys
W = np.ones(3)
me = sys.modules[__name__]
me.W = np.full(3, 2.0)
""",
    "exec": """
W = np.ones(3)
exec('W[0] = 4.0')
""",
    "helper_mod_sets2": (
        """
from h import W
import g
""",
        {
            "h": """
W = np.ones(3)
""",
            "g": """
import h
h.W[0] = 9.0
""",
        },
    ),
    "helper_mod_binds": (
        """
import h
h.k = 9.0

def f(x):
    return h.k * np.sum(x * x)
""",
        {
            "h": """
k = 1.0
"""
        },
    ),
    "helper_reg": (
        """
from h import REG, register
register(3.0)
register(4.0)

def f(x):
    return np.sum(x * x) * sum(REG)
""",
        {
            "h": """
REG = [1.0]
def register(v):
    REG.append(v)
"""
        },
    ),
    "helper_fnpatch": (
        """
import h
h.g = lambda v: 3.0 * v

def f(x):
    return np.sum(h.g(x) * x)
""",
        {
            "h": """
def g(v):
    return v
"""
        },
    ),
    "fn_globals": """
def g(v):
    return v
globals()['g'] = lambda v: 2.0 * v

def f(x):
    return np.sum(g(x) * x)
""",
    "fn_defaults": """
def g(v, k=2.0):
    return v * k
g.__defaults__ = (5.0,)

def f(x):
    return np.sum(g(x) * x)
""",
    "fn_if": """
if np.__name__ == 'numpy':
    def g(v):
        return v * 2.0
else:
    def g(v):
        return v

def f(x):
    return np.sum(g(x) * x)
""",
    "annotation_eff": """
W = np.ones(3)
x: W.fill(2.0) = 3
""",
}


def write(folder, case):
    """The module of a case, and those that it imports."""
    text, others = case if isinstance(case, tuple) else (case, {})
    text = text if "def f(x" in text else text + USE
    for name, each in {"model": text, **others}.items():
        (folder / f"{name}.py").write_text(HEAD + each, encoding="utf-8")
    return str(folder / "model.py:f")


def differences(folder, monkeypatch):
    """The gradient of the module itself, as Python imports it."""
    monkeypatch.syspath_prepend(folder)
    for name in ("model", "h", "g"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    model = importlib.import_module("model")
    for name in ("model", "h", "g"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return np.array([(model.f(X + step) - model.f(X - step)) / 2e-6 for step in 1e-6 * np.eye(3)])


def check(folder, case, monkeypatch):
    """The dumped text, after its gradient was compared with that of the module."""
    text = dump(write(folder, case), wrt=("x",)).text
    names: dict[str, object] = {}
    exec(compile(text, "<dumped>", "exec"), names)
    np.testing.assert_allclose(names["f_grad"](X), differences(folder, monkeypatch), rtol=1e-6, atol=1e-7)
    return text


@pytest.mark.parametrize("case", CHANGED.values(), ids=CHANGED)
def test_a_value_comes_from_the_statements_that_change_it(tmp_path, monkeypatch, capsys, case):
    check(tmp_path, case, monkeypatch)


@pytest.mark.parametrize("case", UNCHANGED.values(), ids=UNCHANGED)
def test_a_value_that_nothing_changes_is_its_line(tmp_path, monkeypatch, capsys, case):
    """What is made of it, and what lies beside it, is another value."""
    assert "value_of_" not in check(tmp_path, case, monkeypatch)


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_what_only_the_running_module_knows_is_refused(tmp_path, case):
    with pytest.raises(DifferentiationError) as caught:
        dump(write(tmp_path, case), wrt=("x",))
    assert caught.value.code == "E5012"


def test_only_what_the_value_needs_is_taken_over(tmp_path):
    case = (
        "N = 3\nW = np.zeros(N)\nlosses = []\nfor i in range(N):\n    W[i] = i + 1.0\n"
        "    losses.append(W.sum())\n    print(i)\nW /= W.sum()"
    )
    text = dump(write(tmp_path, case), wrt=("x",)).text
    assert (
        'N = 3\n\n\ndef value_of_W():\n    """`W` as model.py leaves it behind line 9."""\n    W = np.zeros(N)\n'
        "    for i in range(N):\n        W[i] = i + 1.0\n    W /= W.sum()\n    return W\n\n\nW = value_of_W()\n"
    ) in text


# what Python itself calls: a method of a class of the module, its result, and where the module makes Python call it
CALLED_BY_PYTHON = {
    "an equation": ("__eq__(self, o)", "True", "K() == 3"),
    "a length": ("__len__(self)", "1", "n = len(K())"),
    "a condition": ("__bool__(self)", "True", "if K():\n    pass"),
    "a condition, of a length": ("__len__(self)", "1", "n = 1 if K() else 2"),
    "a loop with a condition": ("__bool__(self)", "False", "while K():\n    pass"),
    "an assertion": ("__bool__(self)", "True", "assert K()"),
    "not": ("__bool__(self)", "True", "n = not K()"),
    "and": ("__bool__(self)", "True", "n = K() and 3"),
    "a comprehension's condition": ("__bool__(self)", "True", "n = [1 for k in [K()] if k]"),
    "in": ("__contains__(self, i)", "True", "n = 3 in K()"),
    "in a list of them": ("__eq__(self, o)", "True", "n = 3 in [K()]"),
    "a part that goes": ("__delitem__(self, i)", "None", "k = K()\ndel k[0]"),
    "a sign": ("__neg__(self)", "1", "n = -K()"),
    "a float": ("__float__(self)", "1.0", "n = float(K())"),
    "a text": ("__str__(self)", "''", "n = str(K())"),
    "a printed text": ("__str__(self)", "''", "print(K())"),
    "a formatted text": ("__format__(self, s)", "''", "n = f'{K()}'"),
    "a text with a value": ("__str__(self)", "''", "n = '%s' % K()"),
    "a text's method": ("__str__(self)", "''", "n = '{}'.format(K())"),
    "a key of a display": ("__hash__(self)", "1", "d = {K(): 1}"),
    "a key": ("__hash__(self)", "1", "d = {}\nd[K()] = 3"),
    "an order": ("__lt__(self, o)", "True", "n = sorted([K(), K()])"),
    "a list put in order": ("__lt__(self, o)", "True", "n = [K(), K()]\nn.sort()"),
    "the least": ("__lt__(self, o)", "True", "n = min(K(), K())"),
    "a place in a list": ("__eq__(self, o)", "True", "n = [K()].index(3)"),
    "an index": ("__index__(self)", "1", "n = [1, 2][K()]"),
    "a bound of a slice": ("__index__(self)", "1", "n = [1, 2][: K()]"),
    "an item": ("__getitem__(self, i)", "1", "n = K()[0]"),
    "a loop": ("__iter__(self)", "iter([1])", "for a in K():\n    pass"),
    "a loop by items": ("__getitem__(self, i)", "[][i]", "for a in K():\n    pass"),
    "an unpacking": ("__iter__(self)", "iter([1, 2])", "a, b = K()"),
    "an attribute": ("__getattribute__(self, n)", "1", "n = K().q"),
    "an array": ("__array__(self, dtype=None, copy=None)", "np.ones(2)", "n = np.sum(K())"),
    "a descriptor that is read": ("__get__(self, o, t)", "1", "class C:\n    d = K()\nn = C().d"),
    "a descriptor that is set": ("__set__(self, o, v)", "None", "class C:\n    d = K()\nC().d = 3.0"),
    "a descriptor's name": ("__set_name__(self, o, n)", "None", "class C:\n    d = K()"),
    "a base's method": ("__len__(self)", "1", "class C(K):\n    pass\nn = len(C())"),
}


@pytest.mark.parametrize("method, result, use", CALLED_BY_PYTHON.values(), ids=CALLED_BY_PYTHON)
def test_methods_that_python_calls_are_followed(tmp_path, monkeypatch, capsys, method, result, use):
    case = f"W = np.ones(3)\nclass K:\n    def {method}:\n        W[0] += 7.0\n        return {result}\n{use}"
    check(tmp_path, case, monkeypatch)


def test_classes_that_classes_make_are_followed(tmp_path, monkeypatch, capsys):
    made = "class M(type):\n    def __init__(cls, *a):\n        W[0] = 7.0\nclass K(metaclass=M):\n    pass"
    case = f"W = np.ones(3)\n{made}"
    check(tmp_path, case, monkeypatch)


BEYOND = {
    "an item": "W = np.ones(3)\ndef go():\n    W[0] = 7.0\n{more}\ngo()",
    "a method": "W = np.ones(3)\ndef go():\n    W.fill(7.0)\n{more}\ngo()",
    "an argument": "W = np.ones(3)\ndef hit(a):\n    a[0] = 7.0\ndef go():\n    hit(W)\n{more}\ngo()",
    "a result": "W = np.ones(3)\ndef go():\n    return W\n{more}\ngo()[0] = 7.0",
    "an output": "W = np.ones(3)\ndef go():\n    np.multiply(W, 2.0, out=W)\n{more}\ngo()",
    "a second name": "V = [None]\nW = V[0] = np.ones(3)\n{more}\nV[0][0] = 7.0",
    "a method of a class": "W = np.ones(3)\nclass K:\n    def __eq__(self, o):\n        W[0] = 7.0\n{more}\nK() == 3",
}
MORE = "\n".join(f"a{k} = b{k} = len('ab') + {k}" for k in range(100))


@pytest.mark.parametrize("case", BEYOND.values(), ids=BEYOND)
def test_what_is_beyond_the_steps_that_are_followed_is_refused(tmp_path, monkeypatch, case):
    check(tmp_path, case.format(more=MORE), monkeypatch)
    monkeypatch.setattr(import_effects, "MOST_STEPS", 200)
    with pytest.raises(DifferentiationError) as caught:
        dump(write(tmp_path, case.format(more=MORE)), wrt=("x",))
    assert caught.value.code == "E5012"
    plain = "W = np.ones(3)\ndef go():\n    return W[0]\n{more}\ngo()"
    assert "value_of_" not in check(tmp_path, plain.format(more=MORE), monkeypatch)

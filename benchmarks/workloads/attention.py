"""An attention block in float32: B sequences of T vectors of D numbers."""

import numpy as np


def attention(x, wq, wk, wv, wo):
    """One head; the mean of the squares of what comes out."""
    q = np.matmul(x, wq)
    k = np.matmul(x, wk)
    v = np.matmul(x, wv)
    s = np.matmul(q, np.swapaxes(k, 1, 2)) * 0.0625
    e = np.exp(s - np.max(s, axis=2, keepdims=True))
    p = e / np.sum(e, axis=2, keepdims=True)
    o = np.matmul(np.matmul(p, v), wo)
    return np.mean(o * o)


def attention_hand(x, wq, wk, wv, wo):
    """Gradients of weights are one product over all rows of all sequences."""
    q = np.matmul(x, wq)
    k = np.matmul(x, wk)
    v = np.matmul(x, wv)
    s = np.matmul(q, np.swapaxes(k, 1, 2)) * 0.0625
    e = np.exp(s - np.max(s, axis=2, keepdims=True))
    p = e / np.sum(e, axis=2, keepdims=True)
    a = np.matmul(p, v)
    o = np.matmul(a, wo)
    value = np.mean(o * o)

    d = x.shape[-1]
    rows = x.reshape(-1, d).T
    o_bar = o * (2.0 / o.size)
    wo_bar = np.matmul(a.reshape(-1, d).T, o_bar.reshape(-1, d))
    a_bar = np.matmul(o_bar, wo.T)
    v_bar = np.matmul(np.swapaxes(p, 1, 2), a_bar)
    p_bar = np.matmul(a_bar, np.swapaxes(v, 1, 2))
    s_bar = (p_bar - np.sum(p_bar * p, axis=2, keepdims=True)) * p * 0.0625
    q_bar = np.matmul(s_bar, k)
    k_bar = np.matmul(np.swapaxes(s_bar, 1, 2), q)
    wq_bar = np.matmul(rows, q_bar.reshape(-1, d))
    wk_bar = np.matmul(rows, k_bar.reshape(-1, d))
    wv_bar = np.matmul(rows, v_bar.reshape(-1, d))
    x_bar = np.matmul(q_bar, wq.T) + np.matmul(k_bar, wk.T) + np.matmul(v_bar, wv.T)
    return value, (x_bar, wq_bar, wk_bar, wv_bar, wo_bar)


def arguments(b, t, d):
    """Weights that keep the size of what passes."""
    draw = np.random.default_rng(0).standard_normal
    weights = [(draw((d, d)) * d**-0.5).astype(np.float32) for _ in range(4)]
    return draw((b, t, d)).astype(np.float32), *weights

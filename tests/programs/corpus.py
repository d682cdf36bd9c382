"""Programs drawn by tests/random/writes.py that were once wrong, by the seed of their arguments."""

# ruff: noqa: E501
from __future__ import annotations

# seed -> the program, without the helpers
CORPUS = {
    102: """\
def f(x, c, n):
    idx = np.array([0, 2, 1])
    m = np.array([0.1, 0.9, 0.7, 0.2])
    a = x * x
    a[1:-1] = a[2:] * power(sum(v * 0.5 for v in a), 0) + a[:-2]
    p1, q2 = np.sin(np.mean(np.array([v * a[2] for v in x if v > 0.3] + [0.1]))), np.sin(np.sin(x[1]))
    c = (apply(np.tanh, a[-1]) + (a[1] + q2)) if a[1] < 0.1 else np.mean(np.array([v * c for v in x if v > 0.3] + [0.1]))
    v3 = a[::2]
    v3[:1] += np.sum(a * x)
    v3[:1] *= p1
    c = c + 0.3 * np.sum(v3 * v3)
    s4 = np.tanh(power(np.sin(x[1]), 1) + 0.3 * c)
    g5 = lambda t: np.sin(t) * x[-1]
    c = np.tanh(g5(x[1]))
    return np.sum(a * a)
""",
    107: """\
def f(x, c, n):
    idx = np.array([0, 2, 1])
    m = np.array([0.1, 0.9, 0.7, 0.2])
    a = np.tanh(x) * 0.7
    a -= np.zeros(4)
    fill(a, a[1])
    a[1], a[-1] = a[2], a[2]
    if a[0] > 0.3:
        return np.sum(a * a)
    return np.sum(a * a) + c
""",
    111: """\
def f(x, c, n):
    idx = np.array([0, 2, 1])
    m = np.array([0.1, 0.9, 0.7, 0.2])
    a = np.tanh(x) * 0.7
    s1 = np.tanh(power(np.sin(c), 1) + 0.3 * c)
    a.fill(a[2] * np.sin(a[0]))
    if c > 0.4:
        def g2(t):
            if t > 0.2:
                return t * x[1]
            return np.tanh(t) + c
        c = np.tanh(g2(np.tanh(power(a[-1], n)) * 1.44))
        p3, q4 = g2(x[1]), power(g2(a[2]), 0)
    l5 = [np.sin(max(c, 0.123)), c]
    c = np.tanh(np.sum(a * x) + 0.3 * c)
    a[-1] = (np.sin(x[-1]) + (s1 + a[1]))
    c = c + 0.1 * sum(l5)
    return np.sum(a * a) + c
""",
    317: """\
def f(x, c, n):
    idx = np.array([0, 2, 1])
    m = np.array([0.1, 0.9, 0.7, 0.2])
    a = np.zeros_like(x)
    c = np.tanh(np.tanh(a[-1]) * 0.54) * 0.74 if n > 1 else a[-1]
    a[...] = c
    for r1 in a:
        a = x * x
    return a
""",
    547: """\
def f(x, c, n):
    idx = np.array([0, 2, 1])
    m = np.array([0.1, 0.9, 0.7, 0.2])
    a = x.copy()
    a[np.array([3, 0, 3])] = a[np.array([3, 0, 3])]
    a[2], a[-1] = a[0], a[1]
    if c < 0.5:
        a[1:-1] = a[2:] * np.sum(a * x) + a[:-2]
        if a[1] < 0.1:
            return np.sum(a * a)
    else:
        if c < 0.5:
            l1 = [a[1], apply(np.tanh, max(a[-1], 0.123))]
            c = np.tanh(l1[0]) * 1.14 if c > 0.4 else l1[-1]
    a -= np.zeros(4)
    return np.sum(a * a) + c
""",
    682: """\
def f(x, c, n):
    idx = np.array([0, 2, 1])
    m = np.array([0.1, 0.9, 0.7, 0.2])
    a = np.sort(x * 1.1)
    for r1 in [c, x[0]]:
        v2 = a
        v2[0] = a[0]
        v2[0] *= power(x[0] * x[2], n)
        c = c + 0.3 * np.sum(v2 * v2)
        for i3, u4 in enumerate(x):
            v6 = a[1:][::-1]
            v6[-1] = np.sin(x[-1] * a[-1])
            v6[:1] = np.sum(a * x)
            c = c + 0.3 * np.sum(v6 * v6)
    l7 = [sum(v * 0.5 for v in a), np.tanh(np.sin(c)) * 0.79]
    l7.insert(0, x[1])
    a[1] -= a[1] * c * x[1]
    if a[1] < 0.1:
        return np.sum(a * a)
    a += np.sin(a)
    s8 = np.tanh(x[0] + 0.3 * c)
    return np.sum(a * a)
""",
    5136: """\
def f(x, c, n):
    idx = np.array([0, 2, 1])
    m = np.array([0.1, 0.9, 0.7, 0.2])
    a = np.sort(x * 1.1)
    np.multiply(a, np.sin(apply(np.tanh, c)), out=a)
    a[2] = a[-1] * a[1] * c
    b1 = np.sin(a)
    l2 = [power(a[-1], 1) * max(c, 0.123), a[2]]
    c = a[0] if c < 0.5 else l2[0]
    return np.sum(a * a) + c
""",
    5616: """\
def f(x, c, n):
    idx = np.array([0, 2, 1])
    m = np.array([0.1, 0.9, 0.7, 0.2])
    a = np.tanh(x) * 0.7
    if a[0] > 0.3:
        v1 = a[1:][::-1]
        v1[:1] = sum(v * 0.5 for v in a)
        c = c + 0.3 * np.sum(v1 * v1)
    if a[1] < 0.1:
        return np.sum(a) * c
    l2 = [power(np.sin(x[2]), n), c]
    for r3 in a:
        a = np.sort(a * 1.1)
    np.multiply(a, power(x[1], 1), out=a)
    if a[0] > 0.3:
        v4 = a
        c = c + 0.3 * np.sum(v4 * v4)
        a[1] = total(a[1:], apply(np.tanh, np.tanh(x[1]) * 1.34))
    return c + np.sum(a)
""",
    5849: """\
def f(x, c, n):
    idx = np.array([0, 2, 1])
    m = np.array([0.1, 0.9, 0.7, 0.2])
    a = x * c
    a[::-1] *= x[::-1] * (x[2] + x[1])
    k1 = 0
    while k1 < 3 and a[k1] < 2.0:
        k1 += 1
        a[::-1] -= x[::-1] * c
    for r2 in a:
        a = a.copy()
        def g3(t):
            if t > 0.2:
                return t * a[2]
            return np.tanh(t) + r2
        c = np.tanh(g3(c))
    k4 = 0
    while k4 < 3 and a[k4] < 2.0:
        k4 += 1
        if x[1] > 0.0:
            break
        a.fill(np.tanh(a[k4]) * 0.46)
    return np.sum(a * a)
""",
    10188: """\
def f(x, c, n):
    idx = np.array([0, 2, 1])
    m = np.array([0.1, 0.9, 0.7, 0.2])
    a = np.sort(x * 1.1)
    b1 = np.array([v * 0.9 for v in x])
    a[::-1] *= b1
    a, b1 = b1, a
    return np.sum(a * b1)
""",
    10197: """\
def f(x, c, n):
    idx = np.array([0, 2, 1])
    m = np.array([0.1, 0.9, 0.7, 0.2])
    a = x * power(c, 1)
    v1 = a
    v1[:1] = power(sum(v * 0.5 for v in a), 1)
    c = c + 0.3 * np.sum(v1 * v1)
    if a[0] > 0.3:
        return c
    a *= x * c
    v2 = a[::-1]
    v2[-1] += (np.sin(a[2]) + a[1])
    v2[:1] *= x[1]
    c = c + 0.3 * np.sum(v2 * v2)
    l3 = [np.mean(np.array([v * c for v in x if v > 0.3] + [0.1])), np.sum(a * x) * x[1]]
    c = l3[0] if c > 0.4 else np.sin(c)
    c = c + total(a, np.sin(power(c, n)))
    return c + np.sum(a)
""",
    10370: """\
def f(x, c, n):
    idx = np.array([0, 2, 1])
    m = np.array([0.1, 0.9, 0.7, 0.2])
    a = np.array([v * 0.9 for v in x])
    a += np.sin(x[1] * a[2])
    a[-1], a[2] = a[-1], a[1]
    for i1, (u2, w3) in enumerate(zip(x, a)):
        if n > 1:
            a = a.copy()
            continue
    l4 = [x[1], np.sum(a * x)]
    a += a * x
    return np.sum(a * a)
""",
    10572: """\
def f(x, c, n):
    idx = np.array([0, 2, 1])
    m = np.array([0.1, 0.9, 0.7, 0.2])
    a = x + x
    l1 = [np.sum(a * x), apply(np.tanh, x[-1])]
    a[-1] += x[2]
    a[2] = l1[0]
    v2 = a[:]
    a[-1] += np.sum(a * x)
    c = c + 0.3 * np.sum(v2 * v2)
    a[m > 0.5] = np.sin(a[m > 0.5])
    b3 = x * x[0]
    a, b3 = b3, a
    return b3
""",
    21224: """\
def f(x, c, n):
    idx = np.array([0, 2, 1])
    m = np.array([0.1, 0.9, 0.7, 0.2])
    a = x + x
    a[1:] = a[:-1]
    a[0] += ((a[0] + x[0]) + np.tanh(a[1]) * 0.21)
    v1 = a[:]
    c = c + 0.3 * np.sum(v1 * v1)
    fill(a[1:], sum(v * 0.5 for v in a))
    a[[1, 1]] = a[1]
    for i2, (u3, w4) in enumerate(zip(x, a)):
        a[1] -= u3
        for i5 in range(1):
            a[-1] -= apply(np.tanh, a[i5 - 1])
            np.add.at(a, [0, 2, 0], power(a[0], n))
        else:
            np.sin(a, out=a)
        a[...] *= c
    else:
        def g6(t):
            return np.tanh(t) + x[0]
        c = np.tanh(g6(np.sum(a * x)))
    return np.sum(a * a) + c
""",
    21314: """\
def f(x, c, n):
    idx = np.array([0, 2, 1])
    m = np.array([0.1, 0.9, 0.7, 0.2])
    a = x + x
    k1 = 0
    while k1 < 3 and a[k1] < 2.0:
        k1 += 1
        if a[0] > 0.3:
            continue
        p2, q3 = np.sum(a * x), np.sin(apply(np.tanh, x[k1]))
    for i4 in range(3, 0, -1):
        a[[1, 1]] = a[[1, 1]]
        if c > 0.2:
            return a + x
        a *= x + x
    np.add.at(a, [0, 2, 0], a[0] * np.tanh(x[-1]) * 1.28)
    b5 = np.array([v * 0.9 for v in a])
    fill(b5[1:], np.sum(a * x))
    return b5
""",
    102886: """\
def f(x, c, n):
    idx = np.array([0, 2, 1])
    m = np.array([0.1, 0.9, 0.7, 0.2])
    a = np.sort(x * 1.1)
    for i1 in range(n - 1):
        for i2 in range(n - 1):
            a = np.zeros(4)
        else:
            a[1] = apply(np.tanh, c)
    else:
        a[np.array([3, 0, 3])] = a[np.array([3, 0, 3])]
    if c > 0.4:
        return np.sum(a) * c
    a[1:] += a[:-1] * 0.5
    if a[0] > 0.3:
        return c
    np.multiply(a, max(c, 0.123) * power(a[1], n), out=a)
    if c > 0.4:
        a[:] *= a[:]
        a[1] *= (np.mean(np.array([v * a[-1] for v in x if v > 0.3] + [0.1])) + power(x[1], 0))
    for i3 in range(3):
        for r4 in [c, x[0]]:
            np.add.at(a, [0, 2, 0], max(sum(v * 0.5 for v in a), 0.123))
        a += x + a
        if c > 0.4:
            a[2], a[i3] = a[i3], a[-1]
            break
    return np.sum(a * a) + c
""",
    400947: """\
def f(x, c, n):
    idx = np.array([0, 2, 1])
    m = np.array([0.1, 0.9, 0.7, 0.2])
    a = x + x
    l1 = [np.tanh(apply(np.tanh, x[2])) * 1.39, x[0]]
    a[-1] = x[1]
    c = c + 0.2 * np.sum(np.array(l1))
    v2 = half(a[::-1])
    a[0] -= np.tanh(a[0] * c) * 1.23
    c = c + 0.2 * np.sum(v2 * v2)
    b3 = a * x
    v4 = b3
    v4[:1] += power(b3[2], 0)
    v4[0] *= max(c, 0.123)
    c = c + 0.3 * np.sum(v4 * v4)
    return np.sum(a * b3)
""",
    1010437: """\
def f(x, c, n):
    idx = np.array([0, 2, 1])
    m = np.array([0.1, 0.9, 0.7, 0.2])
    a = x * x
    for i1 in range(1):
        a[-2:] = (np.mean(np.array([v * a[i1] for v in x if v > 0.3] + [0.1])), np.tanh((c + c)) * 1.09)
    k2 = 0
    while k2 < 3 and a[k2] < 2.0:
        k2 += 1
        def g3(t):
            return np.tanh(t) + x[1]
        c = np.tanh(g3(np.sum(a * x)))
        for i4 in range(3):
            l5 = [sum(v * 0.5 for v in a), np.tanh(np.tanh(c) * 0.37) * 0.48]
            a[k2] = c
    l6 = [np.mean(np.array([v * c for v in x if v > 0.3] + [0.1])), np.mean(np.array([v * c for v in x if v > 0.3] + [0.1]))]
    s7 = np.tanh(l6[-1] + 0.3 * c)
    return np.sum(a * a)
""",
    1001945: """\
def f(x, c, n):
    idx = np.array([0, 2, 1])
    m = np.array([0.1, 0.9, 0.7, 0.2])
    a = x.copy()
    np.multiply(a, power(max(x[0], 0.123), n), out=a)
    for i1 in range(1):
        a[(2 * i1) % 4] -= np.mean(np.array([v * x[i1] for v in x if v > 0.3] + [0.1]))
        a[1:] = a[:-1]
    a *= x + x
    l2 = [np.sum(a * x), a[1]]
    a[-1], a[0] = a[-1], a[-1]
    c = c + total(a, power(np.tanh(x[1]) * 0.54, 0))
    for i3 in range(n - 1):
        for i4, (u5, w6) in enumerate(zip(x, a)):
            u5 = np.tanh(l2[0] + 0.3 * c)
            p8, q9 = np.tanh((c + c)) * 1.25, l2[-1] * np.sin(x[i3])
            a[(2 * i3) % 4] *= power(u5, 1)
        else:
            v10 = a[:]
            v10[-1] += np.tanh(u5) * 1.04
            c = c + 0.3 * np.sum(v10 * v10)
        p11, q12 = np.sin(x[i3 - 1] * c), np.tanh(np.sum(a * x)) * 1.38
        a[2], a[i3] = a[(2 * i3) % 4], a[1]
    return a
""",
    2013895: """\
def f(x, c, n):
    idx = np.array([0, 2, 1])
    m = np.array([0.1, 0.9, 0.7, 0.2])
    a = np.sort(x * 1.1)
    if a[1] < 0.1:
        return c
    a *= a * x
    for i1 in range(1):
        s2 = np.tanh(sum(v * 0.5 for v in a) + 0.3 * c)
    for i3, u4 in enumerate(x):
        g6 = lambda t: np.sin(t) * max(u4, 0.123)
        c = np.tanh(g6((sum(v * 0.5 for v in a) + max(a[i3], 0.123))))
        d7 = {"u": apply(np.tanh, power(a[i3 - 1], n)), "v": a[i3]}
        k8 = 0
        while k8 < 3 and a[k8] < 2.0:
            k8 += 1
            d7["u"] += max(x[i3 - 1], 0.123)
            c = np.tanh((x[0]) and (a[(2 * k8) % 4])) + 0.2
    else:
        a += x.copy()
    return c + np.sum(a)
""",
    2016441: """\
def f(x, c, n):
    idx = np.array([0, 2, 1])
    m = np.array([0.1, 0.9, 0.7, 0.2])
    a = x + x
    d1 = {"u": sum(v * 0.5 for v in a), "v": (np.sin(x[0]) + np.tanh(x[-1]) * 1.39)}
    a[::-1] *= a
    fill(a[1:], apply(np.tanh, c * x[-1]))
    a[2] = np.sin(x[1]) * apply(np.tanh, c)
    for i2 in range(n):
        if x[1] > 0.0:
            return c
        k3 = 0
        while k3 < 3 and a[k3] < 2.0:
            k3 += 1
            b4 = a * x
            b4, a = a, b4
    return c + np.sum(a)
""",
}

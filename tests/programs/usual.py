"""Usual ways to write lists and dicts: programs that must come to the right derivative."""

USUAL = {
    "an array by the name of its list": """
def f(x, c):
    total = 0.0
    for k in range(3):
        row = []
        for v in x:
            if v > 0.8:
                continue
            row.append(v**k * c)
        row = np.array(row)
        row = row.reshape(-1, 1) * 2.0
        total = total + row.sum() * row[0, 0]
        row = [total]
        row.append(x[0])
        row = np.stack(row)
        total = total * row[1] + np.sin(row[0])
    return total
""",
    "what a key begins with": """
def f(x, c):
    total = 0.0
    d = {"a_1": x[0], "b_2": c}
    for key, value in d.items():
        total += value**2 if key.startswith("a") else np.sin(value)
    return total
""",
    "draws in tests": """
def f(x, c):
    rng = np.random.default_rng(0)
    for _ in range(6):
        if rng.uniform() < 0.4 + 0.1 * x[0]:
            x = x * c
        x = np.sin(x) if rng.uniform() < 0.5 else x + 0.1
        while rng.uniform() < 0.5:
            x = x * 1.1 + c**2
    return np.sum(x) * rng.normal()
""",
    "dict of keywords": """
def f(x, c):
    p = dict(w=c, b=x[0])
    p["w"] = p["w"] * 2.0
    return p["w"] * p["b"]
""",
    "max and min of a display": """
def f(x, c):
    l = [x[0], c * x[1], x[2]]
    return max(l) * min(l)
""",
    "max and min of a list": """
def f(x, c):
    l = []
    for i in range(3):
        l.append(x[i] * c)
    return max(l) + min(l)
""",
    "del of a key in a loop's dict": """
def f(x, c):
    d = {}
    for i in range(3):
        d[i] = x[i] * c
    d["s"] = c
    del d[0]
    return sum(d.values())
""",
    "max of a generator": """
def f(x, c):
    return max(x[i] * c for i in range(3))
""",
    "two displays in one statement": """
def f(x, c):
    a, b = [], []
    for i in range(3):
        a.append(x[i] * c)
        b.append(x[i] + c)
    return a[0] * b[1] + a[2]
""",
    "get with and without the key": """
def f(x, c):
    d = {"a": c}
    return d.get("a", 1.0) * x[0] + d.get("b", 2.0)
""",
    "list of an array": """
def f(x, c):
    l = list(x)
    l.append(c)
    return np.sum(np.stack(l)) * l[0]
""",
    "empty dict()": """
def f(x, c):
    p = dict()
    p["w"] = c * x
    return np.sum(p["w"] ** 2)
""",
    "dict merged by **": """
def f(x, c):
    p = {"w": c, "b": x[1]}
    q = {**p, "z": c * 2.0}
    return q["w"] * q["z"] * q["b"]
""",
    "update by a display": """
def f(x, c):
    p = {"w": c, "b": x[1]}
    p.update({"w": c * c})
    return p["w"] * p["b"]
""",
    "setdefault and pop of a dict": """
def f(x, c):
    p = {"w": c, "b": x[1]}
    p.setdefault("k", c)
    b = p.pop("b")
    return p["w"] * p["k"] * b * len(p)
""",
    "copies and sums of lists": """
def f(x, c):
    l = [c, x[0]]
    m = l[:]
    m.append(c * c)
    k = l + [x[1]]
    return m[2] * k[2] + m[0]
""",
    "list of so many numbers": """
def f(x, c):
    l = [0.0] * 3
    for i in range(3):
        l[i] = c * x[i]
    return l[0] * l[2]
""",
    "reverse of a list": """
def f(x, c):
    l = [c * x[i] for i in range(3)]
    l.reverse()
    return l[0] * l[1] - l[2]
""",
    "keys that come and go in a loop": """
def f(x, c):
    d = {"a": c, "b": x[0] * c, "e": x[1]}
    for k in ["a", "b"]:
        v = d.pop(k)
        d[k + "2"] = v * v
        del d["e"]
        d["e"] = c
    return sum(d.values())
""",
    "get that gives None": """
def f(x, c):
    d = {"a": c}
    e = d.get("q")
    if e is None:
        return d["a"] * 2.0
    return e
""",
    "max of several kinds of items": """
def f(x, c):
    hs = [0.0] * 4
    for i in range(3):
        hs[i + 1] = np.tanh(hs[i] + x[i] * c)
    return max(hs) + min(x * c) + max(v * c for v in x) + max([c, x[0]]) + max(len(x), 2)
""",
    "lists as long as an array": """
def f(x, c):
    n = len(x)
    hs = [0.0] * n
    gs = [1.0] * (n + 1)
    for i in range(3):
        hs[i + 1] = np.tanh(hs[i] + x[i] * c)
        gs[i] = hs[i] * c
    return max(hs) + sum(gs)
""",
    "a function of the user called dict": """
def f(x, c):
    def dict(w): return w * c
    return dict(w=x[0])
""",
    "a list times an array": """
def f(x, c):
    a = np.array([1, 2]) * 2
    b = [1.0, 2.0] * a
    return np.sum(b) * c
""",
}

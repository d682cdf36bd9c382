# dict state
# expect: right
def f(x, c):
    s = {"h": c, "n": 0}
    for i in range(3):
        s["h"] = np.tanh(s["h"] * x[i])
        s["n"] += 1
    return s["h"]

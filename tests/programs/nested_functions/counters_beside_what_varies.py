# counters beside what varies
# expect: right
def f(x, c):
    state = {"m": 0.0 * x, "v": 1.0, "t": 0}
    seen = [1, c]
    def count():
        state["t"] += 1
    for k in range(4):
        count()
        state["m"] = c * state["m"] + x / state["t"]
        if state["t"] % 2 == 0:
            state["v"] = state["v"] * c ** state["t"] + seen[0]
        seen[0] = seen[0] + 2
        seen[1] = seen[1] * x[0] + seen[0]
    return np.sum(state["m"] ** 2) * state["v"] + seen[1] / state["t"]

# what a key begins with
# expect: right
def f(x, c):
    total = 0.0
    d = {"a_1": x[0], "b_2": c}
    for key, value in d.items():
        total += value**2 if key.startswith("a") else np.sin(value)
    return total

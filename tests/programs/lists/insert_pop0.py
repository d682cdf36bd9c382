# insert pop0
# expect: right
def f(x, c):
    q = [x[0], x[1]]
    q.insert(0, c)
    s = 0.0
    while q:
        v = q.pop(0)
        s = s * c + v * v
        if s < 0.2 and v > 0.2:
            q.append(v * 0.5)
    return s

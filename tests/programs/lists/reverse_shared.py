# reverse shared
# expect: right
def f(x, c):
    row = [c, x[0]]
    rows = [row]
    row.reverse()
    return rows[0][0] ** 2 * c

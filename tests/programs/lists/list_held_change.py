# list held change
# expect: right
def f(x, c):
    row = [c]
    rows = []
    for i in range(3):
        rows.append(row)
        row.append(x[i])
    return rows[0][2] * c

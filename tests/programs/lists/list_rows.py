# list rows
# expect: right
def f(x, c):
    rows = []
    for i in range(3):
        row = []
        for j in range(3):
            row.append(x[i] * x[j] + c)
        rows.append(row)
    a = np.array(rows)
    return np.sum(a @ a) + rows[1][2]

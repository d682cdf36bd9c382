# an array by the name of its list
# expect: right
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

# a parameter bound anew in a while loop, used before it in a for loop
# expect: right
def f(x, c):
    a = x * 1.0
    for i in range(2):
        a[i] = np.tanh(c)
    k = 0
    while k < 3:
        k += 1
        c = np.sum(a * x)
        for i in range(3):
            a[i] = c
    if c > 100.0:
        print(c)
    return np.sum(a * a)

# list of so many numbers
# expect: right
def f(x, c):
    l = [0.0] * 3
    for i in range(3):
        l[i] = c * x[i]
    return l[0] * l[2]

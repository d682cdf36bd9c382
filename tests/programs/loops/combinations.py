# combinations
# expect: right
import itertools
def f(x, c):
    s = 0.0
    for i, j in itertools.combinations(range(3), 2):
        s = s + x[i] * x[j] * c
    return s

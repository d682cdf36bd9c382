# tree of tuples
# expect: E5005
def ev(t):
    if len(t) == 1:
        return t[0]
    return ev(t[0]) * ev(t[1])
def f(t, c):
    return ev(t) * c
ARGS = ((((0.3,), (0.4,)), (0.7,)), 0.6)

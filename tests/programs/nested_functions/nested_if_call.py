# nested if call
# expect: right
def f(x, c):
    def g(a):
        if a > 0:
            return a * c
        return -a
    return g(x[0]) if c > 0.5 else g(x[1]) * g(x[2])

# nested recursion
# expect: E5005
def f(x, c):
    def g(n):
        return c if n == 0 else x[n] * g(n - 1)
    return g(3)

# nested function in assert
# expect: right
def f(x, c):
    def ok(v):
        return v > 0.0
    assert ok(c)
    return c * x[0]

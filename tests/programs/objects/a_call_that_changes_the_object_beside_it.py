# a call that changes the object beside it
# expect: right
class Tank:
    def __init__(self, level):
        self.level = level
    def drain(self, out):
        self.level = self.level * 0.5
        return out
def f(x, c):
    t = Tank(c)
    return t.level * x[0] + t.drain(x[1])

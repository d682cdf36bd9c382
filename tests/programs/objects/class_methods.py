# class methods
# expect: right
class Law:
    k = 2.0
    @staticmethod
    def rate(t):
        return np.cos(t)
    @classmethod
    def scaled(cls, t):
        return cls.rate(t) * cls.k
    def __init__(self, a):
        self.a = a
    def own(self, t):
        return self.rate(t) * self.a + self.scaled(t)
    def both(self, t):
        return self.own(t) * t
law = Law(3.0)
def f(x, c):
    return np.sum(Law.scaled(x) * law.both(x * c))

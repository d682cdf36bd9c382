# a filter that updates itself
# expect: right
class Filter:
    def __init__(self, q, r):
        self.q, self.r = q, r
        self.mean, self.variance = 0.0, 1.0
    def update(self, z):
        self.variance = self.variance + self.q
        gain = self.variance / (self.variance + self.r)
        self.mean = self.mean + gain * (z - self.mean)
        self.variance = (1.0 - gain) * self.variance
        return -0.5 * (z - self.mean) ** 2 / self.r
def f(x, c):
    tracked = Filter(np.exp(c), 2.0)
    total = 0.0
    for z in x:
        total += tracked.update(z) * tracked.mean
    return total + tracked.update(tracked.update(x[0]) + tracked.mean)

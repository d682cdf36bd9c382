# functions as defaults of nested functions and lambdas
# expect: right
class Spring:
    def energy(self, t):
        return 0.5 * t * t


spring = Spring()


def soft(t):
    return np.log1p(np.exp(t))


def f(x, c):
    def cube(t):
        return t * t * t

    def shadowed(soft, s=soft, *, k=2.0, u=cube):
        return s(soft) * k + u(soft)

    g = lambda t, s=np.sin, e=spring.energy: s(t) * e(t)
    total = 0.0
    for v in x:
        h = lambda t, k=v, q=soft: q(t) * k
        total += h(v + c)
    return g(x[0]) + g(x[1], np.cos) + shadowed(x[2]) + shadowed(x[3], k=c, u=soft) + total

# two classes in a list with a second name
# expect: right
class A:
    def __init__(self, v):
        self.v = v
    def cost(self):
        return self.v**2
class B(A):
    def cost(self):
        return np.sin(self.v)
def f(x, c):
    first = [A(x[0])]
    second = first
    second.append(B(c))
    return sum(one.cost() for one in first)

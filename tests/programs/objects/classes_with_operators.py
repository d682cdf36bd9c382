# classes with operators
# expect: right
class Shape:
    factor = 3.0
    def __init__(self, size):
        self.size = size
    def area(self):
        return self.side() * self.factor
    def side(self):
        return self.size
class Square(Shape):
    def __init__(self, size, height):
        super().__init__(size * 1.5)
        self.height = height
    def side(self):
        return self.size * self.height
class Vec:
    def __init__(self, x, y):
        self.x = x
        self.y = y
    @classmethod
    def polar(cls, r, t):
        return cls(r * np.cos(t), r * np.sin(t))
    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.y)
    def __rmul__(self, s):
        return Vec(s * self.x, s * self.y)
    def __neg__(self):
        return Vec(-self.x, -self.y)
    def norm(self):
        return np.sqrt(self.x**2 + self.y**2)
def f(x, c):
    v = Vec(x[0], c) + 2.0 * Vec.polar(x[1], c)
    v += -Vec(x[2], x[0])
    return v.norm() + Square(c, x[0]).area()

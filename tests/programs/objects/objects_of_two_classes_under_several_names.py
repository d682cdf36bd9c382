# objects of two classes under several names
# expect: right
class Shape:
    def twice(self):
        return 2.0 * self.area()
class Circle(Shape):
    def __init__(self, r):
        self.r = r
    def area(self):
        return 3.0 * self.r**2
    def grow(self, k):
        self.r = self.r * k
        return self.r
class Square(Shape):
    def __init__(self, side, other=None):
        self.side, self.other = side, other
    def area(self):
        return self.side**2
    def grow(self, k):
        self.side += k
        if self.other is not None:
            self.other.r = self.other.r + k
        return self.side * k
    @property
    def half(self):
        return 0.5 * self.side
    @half.setter
    def half(self, value):
        self.side = 2.0 * value
def f(x, c):
    round_one = Circle(x[0])
    square = Square(x[1], round_one)
    same = round_one if c > 0.0 else square
    same.grow(c)
    total = square.grow(x[2]) * same.area() + round_one.twice()
    square.half = square.half * x[3]
    chosen = Circle(x[1]) if x[0] > 100.0 else Square(x[2])
    return total + sum(one.twice() for one in [round_one, square, same, chosen])

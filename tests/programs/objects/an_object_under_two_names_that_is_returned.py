# an object under two names that is returned
# expect: E5005
class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b
def f(x, c):
    pair = Pair(x[0], c)
    other = pair
    other.a = other.a * x[1]
    return pair

# object with arithmetic
# expect: E5017
class V:
    def __mul__(self, other):
        return other * other
v = V()
def f(c):
    return v * c
ARGS = (0.6,)

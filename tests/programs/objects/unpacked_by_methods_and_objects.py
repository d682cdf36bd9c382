# unpacked by methods and objects
# expect: right
class Model:
    k = 2.0
    def area(self, a, b):
        return a * b * self.k
    def __call__(self, a, b):
        return a + b * b
model = Model()
def f(x, c):
    shape = (2, 2)
    return model.area(*x[:2]) + model(*x[2:]) * np.sum(x.reshape(*shape)[0])

# method with side effect
# expect: E5005
class Model:
    def __init__(self):
        self.w = 2.0
    def act(self, v):
        self.w = self.w * 2.0
        return v * self.w
model = Model()
def f(x, c):
    return np.sum(model.act(x)) * c

# a method that its object replaces
# expect: right
class Model:
    def act(self, v):
        return np.tanh(v)
model = Model()
model.act = lambda v: v * 3.0
def f(x, c):
    return np.sum(model.act(x)) * c

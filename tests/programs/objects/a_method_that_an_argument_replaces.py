# a method that an argument replaces
# expect: right
class Model:
    def act(self, v):
        return np.tanh(v)
def f(x, c, model):
    return np.sum(model.act(x)) * c
model = Model()
model.act = lambda v: v * 3.0
ARGS = (np.array([0.4, -0.7]), 0.6, model)

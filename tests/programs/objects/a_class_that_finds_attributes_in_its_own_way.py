# a class that finds attributes in its own way
# expect: right
class Model:
    def act(self, v):
        return np.tanh(v)
    def __getattribute__(self, name):
        return (lambda v: v * 3.0) if name == "act" else object.__getattribute__(self, name)
model = Model()
def f(x, c):
    return np.sum(model.act(x)) * c

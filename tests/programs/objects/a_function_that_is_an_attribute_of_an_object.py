# a function that is an attribute of an object
# expect: right
class Model:
    def __init__(self):
        self.act = lambda v: v * 7.0
model = Model()
def f(x, c):
    return np.sum(model.act(x)) * c

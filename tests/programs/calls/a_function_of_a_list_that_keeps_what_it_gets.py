# a function of a list that keeps what it gets
# expect: E5005
class Memory:
    def __init__(self):
        self.h = 1.0
    def step(self, h):
        self.h = np.tanh(self.h * h)
        return self.h
def f(x, c, functions):
    for function in functions:
        x = function(x)
    return np.sum(x) * c
memory = Memory()
ARGS = (np.array([0.4, -0.7]), 0.6, [np.sin, memory.step, memory.step])

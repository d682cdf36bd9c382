# nested tuple
# expect: right
def f(x, c):
    state = (c, (x, c * c))
    for i in range(3):
        h, (v, w) = state
        state = (np.tanh(h * w), (v * h, w))
    return state[0] * np.sum(state[1][0])

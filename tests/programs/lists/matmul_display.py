# matmul display
# expect: right
A = np.array([[1.0, 2.0], [3.0, 4.0]])
def f(x, c):
    return np.sum(A @ [c, x[0]])

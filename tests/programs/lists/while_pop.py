# while pop
# expect: right
def f(x, c):
    todo = [0, 1, 2]
    s = 0.0
    while todo:
        k = todo.pop()
        s += x[k] * c
    return s

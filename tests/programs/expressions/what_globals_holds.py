# what globals() holds
# expect: E5005
FAST = True
def f(x, c):
    return x[0] ** 2 * c if globals().get("FAST", False) else x[0] * c

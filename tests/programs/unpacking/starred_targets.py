# starred targets
# expect: right
def f(x, c):
    *head, last = x
    first, *_ = head
    a, *between, b = x * c
    total = last * sum(head) + first * len(between) * between[1]
    for one, *others in [x, 2.0 * x]:
        total += one * others[-1]
    return total * a + b

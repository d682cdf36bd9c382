# names that clash
# expect: right
def add(a, b):
    return a * b
def f(x, d):
    values = [add(d, 2.0)]
    values_bar = 0.0
    t1 = d * 3.0
    trips = 1.0
    left = d
    for i, item in enumerate(x):
        if item > 0.35:
            values.append(item * t1)
            break
        values_bar = values_bar + item * trips
    place = sum(v * left for v in values)
    result = [v for v in x]
    return place + values_bar + result[-1] * trips

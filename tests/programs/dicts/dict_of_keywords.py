# dict of keywords
# expect: right
def f(x, c):
    p = dict(w=c, b=x[0])
    p["w"] = p["w"] * 2.0
    return p["w"] * p["b"]

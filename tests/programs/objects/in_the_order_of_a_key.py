# objects in the order of a key, whose methods stand in chains
# expect: right
class Place:
    def __init__(self, x, y):
        self.x, self.y = x, y
    def moved(self, d):
        self.x = self.x + d * self.y
        return self
    def norm(self):
        return self.x**2 + 3.0 * self.y
def f(x, c):
    places = [Place(v, c * v) for v in x]
    ordered = sorted(places, key=lambda place: place.x)
    ordered[0].moved(2.0).moved(c)
    return max(places, key=lambda place: place.y).norm() * places[1].norm() + ordered[-1].x

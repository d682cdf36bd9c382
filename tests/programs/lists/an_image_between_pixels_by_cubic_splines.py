# an image between pixels by cubic splines
# expect: E5006
from scipy import ndimage
def f(x, c):
    return np.sum(ndimage.map_coordinates(x, [c * np.arange(2.0)]))

# a function of SciPy that is a wrapper of anything
# expect: E5003
from scipy import stats
def f(x, c):
    return stats.kstat(c * x)

# layers that are dicts, all but the last
# expect: right
import logging
logger = logging.getLogger(__name__)
def f(params, x):
    *hidden, last = params
    h = x
    for layer in hidden:
        h = np.tanh(h * layer["w"] + layer["b"])
        logger.debug("h is %s", h)
    return np.sum(h * last["w"])
ARGS = ([{"w": 1.5, "b": 0.2}, {"w": np.array([0.3, -0.6]), "b": 0.1}, {"w": 2.0, "b": 0.0}], np.array([0.4, 0.9]))

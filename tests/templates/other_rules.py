"""A function of a name that another module has too, with a rule of its own."""

import srcgrad


def halved(x):
    return 0.5 * x


alias = halved


@srcgrad.register_vjp(halved)
def halved_vjp(primals, cotangent, output):
    return (21.0 * cotangent,)

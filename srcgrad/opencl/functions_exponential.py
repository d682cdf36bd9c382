"""Exponentials and hyperbolic functions in OpenCL C.

With n the integer next to x / ln 2, e^x = 2^n e^r for r = x - n ln 2, |r| <= ln 2 / 2, and e^r - 1 is its Taylor
polynomial. ln 2 is taken off in two parts, the first of which ends in so many zeros that n times it is exact
(Cody and Waite). 2^n is multiplied in twice, half of n each time: 2^1024 is no number, and a result that is subnormal
is rounded once. sinh, cosh: of e^x / 2, which is finite where e^x is not any more.
tanh(x) = -expm1(-2 |x|) / (2 + expm1(-2 |x|)), with the sign of x; there 2^n is between 2^-55 and 1.
"""

TEXT = """
OWN sg_fabs(REAL x) { return <AS_REAL>(<AS_INT>(x) & <POSITIVE>); }

OWN sg_copysign(REAL x, REAL y) { return <AS_REAL>((<AS_INT>(x) & <POSITIVE>) | (<AS_INT>(y) & ~<POSITIVE>)); }

OWN sg_power_of_two(REAL n) { return <AS_REAL>(<AS_INT>(n + (<MAGIC> + (REAL)<BIAS>)) << <BITS>); }

OWN sg_scaled(REAL x, REAL n) {
    REAL h = (n * (REAL)0.5 + <MAGIC>) - <MAGIC>;
    return x * sg_power_of_two(h) * sg_power_of_two(n - h);
}

OWN sg_exp_times(REAL x, REAL factor) {
    REAL top = factor < (REAL)1 ? <TOP> + (REAL)0.7 : <TOP>;
    REAL y = x > top ? top : x;
    y = y < <BOTTOM> ? <BOTTOM> : y;
    REAL n = (y * <LOG2E> + <MAGIC>) - <MAGIC>;
    REAL r = (y - n * <LN2_1>) - n * <LN2_2>;
    REAL p = r + r * r * <exponential(r)>;
    REAL e = sg_scaled((p + (REAL)1) * factor, n);
    return x == x ? e : x;
}

OWN sg_exp(REAL x) { return sg_exp_times(x, (REAL)1); }

OWN sg_two_to(REAL high, REAL low) {
    REAL n = (high + <MAGIC>) - <MAGIC>;
    REAL r = ((high - n) + low) * (REAL)0.69314718055994530942;
    REAL p = r + r * r * <exponential(r)>;
    return sg_scaled(p + (REAL)1, n);
}

OWN sg_exp2(REAL x) {
    REAL y = x > (REAL)<TOP2> ? (REAL)<TOP2> : x;
    REAL e = sg_two_to(y < (REAL)<BOTTOM2> ? (REAL)<BOTTOM2> : y, (REAL)0);
    return x == x ? e : x;
}

OWN sg_expm1_times(REAL x, REAL factor) {
    REAL top = <TOP> + (REAL)0.7;
    REAL y = x > top ? top : x;
    y = y < <LEFT> ? <LEFT> : y;
    REAL n = (y * <LOG2E> + <MAGIC>) - <MAGIC>;
    REAL r = (y - n * <LN2_1>) - n * <LN2_2>;
    REAL p = r + r * r * <exponential(r)>;
    REAL h = (n * (REAL)0.5 + <MAGIC>) - <MAGIC>;
    REAL one = sg_power_of_two(h) * factor, two = sg_power_of_two(n - h);
    REAL e = n == (REAL)0 ? p * factor : (p * one + (one - sg_power_of_two(h - n) * factor)) * two;
    return x == x ? (x == (REAL)0 ? x : e) : x;
}

OWN sg_expm1(REAL x) { return sg_expm1_times(x, (REAL)1); }

OWN sg_tanh(REAL x) {
    REAL y = (REAL)-2 * sg_fabs(x);
    y = y < <LEFT> ? <LEFT> : y;
    REAL n = (y * <LOG2E> + <MAGIC>) - <MAGIC>;
    REAL r = (y - n * <LN2_1>) - n * <LN2_2>;
    REAL p = r + r * r * <exponential(r)>, scale = sg_power_of_two(n);
    REAL e = p * scale + (scale - (REAL)1);
    return sg_copysign(e / ((REAL)2 + e), x);
}

OWN sg_sinh(REAL x) {
    REAL a = sg_fabs(x);
    int large = a > (REAL)1;
    REAL e = sg_expm1_times(a, large ? (REAL)0.5 : (REAL)1);
    REAL y = e + e / ((REAL)1 + (large ? e + e : e));
    y = large ? y : y * (REAL)0.5;
    return sg_copysign(e == INFINITY ? e : y, x);
}

OWN sg_cosh(REAL x) {
    REAL h = sg_exp_times(sg_fabs(x), (REAL)0.5);
    return h + (REAL)0.25 / h;
}
"""

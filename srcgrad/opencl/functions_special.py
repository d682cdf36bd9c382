"""Error functions, and the gamma function with its logarithm and the derivative of that, in OpenCL C.

erf, erfc: polynomials; e^(-x^2) is e^(-h^2) e^((h - x)(h + x)) for an h next to x with few digits, so that h^2 is
exact. lgamma: beyond 8 Stirling's series; below, x is moved by whole steps to t + 2, -3/4 <= t <= 1/2, where lgamma is
t times a polynomial, and the log of the product of the steps is added. digamma in the same way, with quotients instead
of a log, and its zero taken out of the polynomial. tgamma is e to the power of what lgamma is, beyond 8 as a sum of two
numbers (see functions_powers.py). Of negative x all three are found by reflection.
"""

TEXT = """
OWN sg_tail(REAL a) {
    REAL b = a < (REAL)0.5 ? (REAL)0.5 : (a > (REAL)28 ? (REAL)28 : a);
    REAL h = <AS_REAL>(<AS_INT>(b) & <UPPER>);
    REAL t = (b - (REAL)4) / (b + (REAL)4);
    return sg_exp(-h * h) * sg_exp((h - b) * (h + b)) * <erfc(t)> / ((REAL)1 + b + b);
}

OWN sg_erf(REAL x) {
    REAL a = sg_fabs(x), q = a < (REAL)0.5 ? x * x : (REAL)0.25;
    REAL y = a < (REAL)0.5 ? x * <erf(q)> : sg_copysign((REAL)1 - sg_tail(a), x);
    return x == x ? y : x;
}

OWN sg_erfc(REAL x) {
    REAL a = sg_fabs(x), q = a < (REAL)0.5 ? x * x : (REAL)0.25, c = sg_tail(a);
    REAL y = a < (REAL)0.5 ? (REAL)1 - x * <erf(q)> : (x < (REAL)0 ? (REAL)2 - c : c);
    return x == x ? y : x;
}

OWN sg_down(REAL* z, REAL p) {
    int more = *z >= (REAL)2.5;
    *z = more ? *z - (REAL)1 : *z;
    return more ? p * *z : p;
}

OWN sg_lowered(REAL* z) {
    REAL p = sg_down(z, (REAL)1);
    p = sg_down(z, p);
    p = sg_down(z, p);
    p = sg_down(z, p);
    p = sg_down(z, p);
    return sg_down(z, p);
}

OWN sg_lgamma_of(REAL a) {
    int far = a >= (REAL)8, small = a < (REAL)1.25, tiny = a < (REAL)0.5;
    REAL z = far ? (REAL)2 : a;
    REAL p = sg_lowered(&z);
    REAL t = tiny ? a : (small ? a - (REAL)1 : z - (REAL)2);
    REAL l = sg_log(far ? a : (tiny ? a * (a + (REAL)1) : (small ? a : p)));
    REAL near = t * <lgamma(t)>;
    near = small ? near - l : near + l;
    REAL v = (REAL)1 / a, w = v * v;
    REAL beyond = (a - (REAL)0.5) * (l - (REAL)1) + (v * <stirling(w)> + (REAL)0.41893853320467274178);
    return far ? beyond : near;
}

OWN sg_half_turns(REAL a, <INT> quarter) {
    int none = 0;
    REAL r = a - floor(a);
    return sg_turned((r > (REAL)0.5 ? r - (REAL)1 : r) * (REAL)3.14159265358979323846, quarter, &none);
}

OWN sg_lgamma(REAL x) {
    REAL a = sg_fabs(x), y = sg_lgamma_of(a);
    REAL s = sg_fabs(sg_half_turns(a, 0));
    REAL z = s == (REAL)0 ? INFINITY : sg_log((REAL)3.14159265358979323846 / (a * s)) - y;
    y = (x < (REAL)0 && a > <LOW>) ? z : y;
    return a == INFINITY ? x : y;
}

OWN sg_tgamma_of(REAL a) {
    int far = a >= (REAL)8, small = a < (REAL)1.25, tiny = a < (REAL)0.5;
    REAL z = far ? (REAL)2 : a;
    REAL p = sg_lowered(&z);
    REAL t = tiny ? a : (small ? a - (REAL)1 : z - (REAL)2);
    REAL b = far ? (a < <GAMMA_TOP> ? a : <GAMMA_TOP>) : (REAL)8;
    REAL low, high = sg_log2_parts(b, &low), m = b - (REAL)0.5, h = b * (REAL)0.5;
    REAL e = m * high, f = h * <TWICE_LOG2E_1>, v = (REAL)1 / b, w = v * v;
    REAL g = e - f;
    REAL g2 = ((e - g) - f) + (sg_lack(m, high, e) - sg_lack(h, <TWICE_LOG2E_1>, f)) + (m * low - h * <TWICE_LOG2E_2>);
    g2 = g2 + v * <stirling(w)> * (REAL)1.44269504088896340736;
    REAL u = t * <lgamma(t)>, c = u * (REAL)1.44269504088896340736;
    REAL y = sg_two_to(far ? g : c, far ? g2 : (REAL)0);
    y = y * (far ? (REAL)2.50662827463100050242 : p);
    return small ? (tiny ? y / (a + (REAL)1) / a : y / a) : y;
}

OWN sg_tgamma(REAL x) {
    REAL a = sg_fabs(x), y = sg_tgamma_of(a);
    REAL s = sg_fabs(sg_half_turns(a, 0)), n = floor(a), k = n * (REAL)0.5;
    REAL z = (REAL)3.14159265358979323846 / (a * s) / y;
    z = s == (REAL)0 ? NAN : (floor(k) == k ? -z : z);
    y = x < (REAL)0 && a > <LOW> ? z : sg_copysign(y, x);
    return a == INFINITY ? (x > (REAL)0 ? x : NAN) : (x == x ? y : x);
}

OWN sg_up(REAL* z, REAL* below, REAL above) {
    int more = *z >= (REAL)2;
    *z = more ? *z - (REAL)1 : *z;
    above = more ? above * *z + *below : above;
    *below = more ? *below * *z : *below;
    return above;
}

OWN sg_digamma(REAL x) {
    REAL a = x > (REAL)0 ? x : (REAL)1 - x;
    int far = a >= (REAL)8, small = a < (REAL)1;
    REAL z = far ? (REAL)1 : (small ? a + (REAL)1 : a), below = small ? a : (REAL)1;
    REAL above = sg_up(&z, &below, small ? (REAL)-1 : (REAL)0);
    above = sg_up(&z, &below, above);
    above = sg_up(&z, &below, above);
    above = sg_up(&z, &below, above);
    above = sg_up(&z, &below, above);
    above = sg_up(&z, &below, above);
    REAL t = (z - (REAL)1.5);
    REAL near = ((z - <DIGAMMA_ZERO_1>) - <DIGAMMA_ZERO_2>) * <digamma(t)> + above / below;
    REAL v = (REAL)1 / a, w = v * v;
    REAL y = far ? sg_log(a) - ((REAL)0.5 * v + w * <digamma_far(w)>) : near;
    REAL s = sg_half_turns(-x, 0), c = sg_half_turns(-x, 1);
    REAL z2 = s == (REAL)0 ? NAN : y + (REAL)3.14159265358979323846 * (c / s);
    return x > (REAL)0 ? y : (x == (REAL)0 ? (REAL)-1 / x : (x == x ? z2 : x));
}
"""

"""Powers, cube roots and lengths in OpenCL C.

pow: x^y = 2^(y log2 x), for which log2 x must be known to more digits than a number has. It is kept as a sum of two
numbers (Dekker), as are the steps to it: s = f / (2 + f), 2 s / ln 2, q = s^2, and 1 + q / 3 + q^2 P(q) by which that
is multiplied. What a product lacks is a fused multiply-add where the device has one, and else the products of halves.
cbrt: a polynomial gives it to half its digits, whose square is exact, and one step of Halley's method the rest.
hypot: both lengths are brought by a power of two to where squares neither overflow nor vanish.
"""

TEXT = """
OWN sg_lack(REAL a, REAL b, REAL product) {
#if defined(__FMA__)
    return __builtin_fma<F>(a, b, -product);
#elif defined(__x86_64__)
    REAL h = <AS_REAL>(<AS_INT>(a) & <UPPER>), k = <AS_REAL>(<AS_INT>(b) & <UPPER>);
    REAL l = a - h, m = b - k;
    return ((h * k - product) + h * m + l * k) + l * m;
#else
    return fma(a, b, -product);
#endif
}

OWN sg_log2_parts(REAL a, REAL* low) {
    REAL n, f = sg_split(a, &n);
    REAL d = (REAL)2 + f;
    REAL inverse = (REAL)1 / d, s = f * inverse, p = s * d;
    REAL s2 = (((f - p) - sg_lack(s, d, p)) - s * (((REAL)2 - d) + f)) * inverse;
    REAL g = s * <TWICE_LOG2E_1>;
    REAL g2 = sg_lack(s, <TWICE_LOG2E_1>, g) + (s * <TWICE_LOG2E_2> + s2 * <TWICE_LOG2E_1>);
    REAL q = s * s;
    REAL q2 = sg_lack(s, s, q) + (s + s) * s2;
    REAL u = q * <log2(q)> + <THIRD_2>;
    REAL v = <THIRD_1> + u;
    REAL v2 = (<THIRD_1> - v) + u;
    REAL t = q * v;
    REAL t2 = sg_lack(q, v, t) + (q * v2 + q2 * v);
    REAL h = g * t;
    REAL h2 = sg_lack(g, t, h) + (g * t2 + g2 * t);
    REAL c = g + h;
    REAL high = n + c;
    *low = ((n - high) + c) + (((g - c) + h) + (g2 + h2));
    return a == (REAL)0 ? -INFINITY : (a == INFINITY ? a : high);
}

OWN sg_pow(REAL x, REAL y) {
    REAL a = sg_fabs(x), low, high = sg_log2_parts(a, &low);
    REAL e = y * high;
    REAL e2 = sg_lack(y, high, e) + y * low;
    int inside = e > (REAL)<BOTTOM2> && e < (REAL)<TOP2>;
    e = e > (REAL)<TOP2> ? (REAL)<TOP2> : (e < (REAL)<BOTTOM2> ? (REAL)<BOTTOM2> : e);
    REAL z = sg_two_to(e, inside ? e2 : (REAL)0);
    z = a == (REAL)1 ? (REAL)1 : z;
    REAL h = y * (REAL)0.5;
    int whole = trunc(y) == y;
    int odd = whole && trunc(h) != h;
    z = odd ? sg_copysign(z, x) : z;
    z = (x < (REAL)0 && a != INFINITY && !whole) ? NAN : z;
    z = (x != x || y != y) ? x + y : z;
    return (y == (REAL)0 || x == (REAL)1) ? (REAL)1 : z;
}

OWN sg_cbrt(REAL x) {
    REAL a = sg_fabs(x), n, f = sg_split(a, &n);
    REAL k = (n * (REAL)0.33333333333333333333 + <MAGIC>) - <MAGIC>;
    REAL r = n - (REAL)3 * k;
    REAL root = r == (REAL)0 ? (REAL)1 : (r < (REAL)0 ? (REAL)0.79370052598409973738 : (REAL)1.2599210498948731648);
    REAL t = <AS_REAL>(<AS_INT>(root * <cbrt(f)>) & <UPPER>);
    REAL d = (f + (REAL)1) * (r == (REAL)0 ? (REAL)1 : (r < (REAL)0 ? (REAL)0.5 : (REAL)2)) / (t * t) - t;
    REAL y = sg_copysign((t + d * (t / ((REAL)3 * t + d))) * sg_power_of_two(k), x);
    return (x == x && x != (REAL)0 && a != INFINITY) ? y : x;
}

OWN sg_hypot(REAL x, REAL y) {
    REAL a = sg_fabs(x), b = sg_fabs(y);
    REAL m = a > b ? a : b;
    REAL s = m > <HIGH> ? <DOWN> : (m < <LOW> ? <UPWARD> : (REAL)1);
    REAL back = m > <HIGH> ? <UPWARD> : (m < <LOW> ? <DOWN> : (REAL)1);
    REAL u = a * s, v = b * s;
    REAL z = sqrt(u * u + v * v) * back;
    return (a == INFINITY || b == INFINITY) ? INFINITY : z;
}
"""

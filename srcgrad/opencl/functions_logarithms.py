"""Logarithms and the inverses of hyperbolic functions in OpenCL C.

x = 2^n m with m next to 1, f = m - 1, and log m = 2 artanh(s) for s = f / (2 + f), a series in odd powers:
log m = f - s (f - q P(q)), q = s^2. For log2 and log10, log m is kept as a number and what it lacks, and multiplied by
1 / ln 2 or 1 / ln 10 in halves whose product is exact. log1p: the log of 1 + x rounded, and what rounding took.
logaddexp: 1 + t for t = e^-|x - y|, and f is t or, for t > 1/2, (t - 1) / 2 of half of it: both exact.
"""

TEXT = """
OWN sg_split(REAL x, REAL* n) {
    int tiny = x < <TINY>;
    <INT> bits = <AS_INT>(tiny ? x * <UP> : x) & <POSITIVE>;
    REAL m = <AS_REAL>((bits & <MANTISSA>) | <HALF>);
    int low = m < <SQRT_HALF>;
    REAL k = <AS_REAL>((bits >> <BITS>) + <AS_INT>((REAL)<MAGIC>)) - (<MAGIC> + (REAL)(<BIAS> - 1));
    *n = k - (tiny ? (REAL)<UP_BITS> : (REAL)0) - (low ? (REAL)1 : (REAL)0);
    return low ? m + m - (REAL)1 : m - (REAL)1;
}

OWN sg_log_ends(REAL x, REAL y) {
    y = x == (REAL)0 ? -INFINITY : (x < (REAL)0 ? NAN : y);
    return (x == x && x != INFINITY) ? y : x;
}

OWN sg_log(REAL x) {
    REAL n, f = sg_split(x, &n);
    REAL s = f / ((REAL)2 + f);
    REAL q = s * s;
    REAL z = s * q * <logarithm(q)>;
    return sg_log_ends(x, n * <LN2_1> + (f - (s * f - (z + n * <LN2_2>))));
}

OWN sg_log_in(REAL x, REAL whole, REAL rest, REAL high, REAL low) {
    REAL n, f = sg_split(x, &n);
    REAL s = f / ((REAL)2 + f);
    REAL q = s * s;
    REAL w = s * f - s * q * <logarithm(q)>;
    REAL r = f - w;
    REAL h = <AS_REAL>(<AS_INT>(r) & <UPPER>);
    REAL l = ((f - r) - w) + (r - h);
    REAL a = n * whole, b = h * high;
    REAL c = a + b;
    return sg_log_ends(x, c + (((a - c) + b) + (n * rest + (r * low + l * high))));
}

OWN sg_log2(REAL x) { return sg_log_in(x, (REAL)1, (REAL)0, <INVERSE_LN2_1>, <INVERSE_LN2_2>); }

OWN sg_log10(REAL x) { return sg_log_in(x, <LOG10_2_1>, <LOG10_2_2>, <INVERSE_LN10_1>, <INVERSE_LN10_2>); }

OWN sg_log1p(REAL x) {
    REAL u = (REAL)1 + x;
    REAL c = (x - (u - (REAL)1)) / u, g = sg_log(u);
    g = (u == INFINITY || x == (REAL)-1) ? g : g + c;
    return x == (REAL)0 ? x : g;
}

OWN sg_logaddexp(REAL x, REAL y) {
    REAL t = sg_exp(-sg_fabs(x - y));
    int above = t > (REAL)0.5;
    REAL n = above ? (REAL)1 : (REAL)0, f = above ? (t - (REAL)1) * (REAL)0.5 : t;
    REAL s = f / ((REAL)2 + f);
    REAL q = s * s;
    REAL z = s * q * <logarithm(q)>;
    REAL g = n * <LN2_1> + (f - (s * f - (z + n * <LN2_2>)));
    return x == y ? x + (REAL)0.69314718055994530942 : (x > y ? x : y) + g;
}

OWN sg_asinh(REAL x) {
    REAL a = sg_fabs(x), q = a * a;
    int large = a > <LARGE>;
    REAL g = sg_log1p(large ? a : a + q / ((REAL)1 + sqrt((REAL)1 + q)));
    return sg_copysign(large ? g + (REAL)0.69314718055994530942 : g, x);
}

OWN sg_acosh(REAL x) {
    REAL t = x - (REAL)1;
    int large = x > <LARGE>;
    REAL g = sg_log1p(large ? x : t + sqrt(t * (t + (REAL)2)));
    g = large ? g + (REAL)0.69314718055994530942 : g;
    return x < (REAL)1 ? NAN : g;
}

OWN sg_atanh(REAL x) {
    REAL a = sg_fabs(x);
    return sg_copysign((REAL)0.5 * sg_log1p((a + a) / ((REAL)1 - a)), x);
}
"""

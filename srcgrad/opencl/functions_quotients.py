"""Remainders and whole quotients in OpenCL C, to the last bit those of NumPy.

With q the whole part of a / b, a - q b is a number, and found without rounding: by a fused multiply-add where the
device has one, and else by halves of b, times a q of few digits. a / b may round up to a whole number, so q may be one
off. Two such steps, by `LEAP` b and by b, serve quotients up to `LEAP` squared. Larger ones are noted in `sg_far`, and
their block of elements is computed again by as many steps as it takes. Signs, zeros and infinities are those of
NumPy's `npy_divmod`.
"""

TEXT = """
OWN sg_less(REAL a, REAL q, REAL b) {
#if defined(__FMA__)
    return __builtin_fma<F>(-q, b, a);
#elif defined(__x86_64__)
    REAL h = <AS_REAL>(<AS_INT>(b) & <UPPER>);
    return (a - q * h) - q * (b - h);
#else
    return fma(-q, b, a);
#endif
}

OWN sg_rest(REAL a, REAL b) {
    REAL r = sg_less(a, trunc(a / b), b);
    r = r < (REAL)0 ? r + b : r;
    return r >= b ? r - b : r;
}

OWN sg_fmod(REAL x, REAL y, int* far) {
    REAL a = sg_fabs(x), b = sg_fabs(y);
    REAL r = sg_rest(sg_rest(a, b * <LEAP>), b);
    *far |= !(a <= b * (<LEAP> * <LEAP>) && b < <HIGH>) && x == x && y == y;
    return sg_copysign(r, x);
}

static inline REAL far_fmod(REAL x, REAL y) {
    REAL a = sg_fabs(x), b = sg_fabs(y), t = b;
    if (a < b) return x;
    if (!(b > (REAL)0) || a == INFINITY) return NAN;
    while (t <= a / <LEAP>) t *= <LEAP>;
    for (; t > b; t /= <LEAP>) a = sg_rest(a, t);
    return sg_copysign(sg_rest(a, b), x);
}

OWN sg_as_divisor(REAL r, REAL y) {
    REAL s = (y < (REAL)0) != (r < (REAL)0) ? r + y : r;
    return r == (REAL)0 ? sg_copysign((REAL)0, y) : s;
}

OWN sg_remainder(REAL x, REAL y, int* far) { return sg_as_divisor(sg_fmod(x, y, far), y); }

static inline REAL far_remainder(REAL x, REAL y) { return sg_as_divisor(far_fmod(x, y), y); }

OWN sg_whole(REAL x, REAL y, REAL r) {
    REAL q = (x - r) / y;
    q = (r != (REAL)0 && (y < (REAL)0) != (r < (REAL)0)) ? q - (REAL)1 : q;
    REAL n = floor(q);
    n = q - n > (REAL)0.5 ? n + (REAL)1 : n;
    n = q == (REAL)0 ? sg_copysign((REAL)0, x / y) : n;
    return y == (REAL)0 ? x / y : n;
}

OWN sg_floor_divide(REAL x, REAL y, int* far) { return sg_whole(x, y, sg_fmod(x, y, far)); }

static inline REAL far_floor_divide(REAL x, REAL y) { return sg_whole(x, y, far_fmod(x, y)); }
"""

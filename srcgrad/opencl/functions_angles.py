"""Trigonometric functions and their inverses in OpenCL C.

sin, cos, tan: n times pi / 2 is taken off in four parts, and Taylor polynomials serve on [-pi / 4, pi / 4]. Beyond
`FAR`, n times a part is not exact any more: such an argument is noted in `sg_far`, and its block of elements is
computed again with the runtime's functions. asin, acos: up to 1/2 a polynomial, beyond it asin(x) is
pi / 2 - 2 asin(sqrt((1 - x) / 2)). atan(a / b) for a, b >= 0: of a / b up to 1/2, of -b / a from 2 on, and between them
pi / 4 and the angle of (a - b) / (a + b).
"""

TEXT = """
static inline REAL far_sin(REAL x) { return sin(x); }

static inline REAL far_cos(REAL x) { return cos(x); }

static inline REAL far_tan(REAL x) { return tan(x); }

OWN sg_turned(REAL x, <INT> quarter, int* far) {
    REAL t = x * (REAL)0.63661977236758134308 + <MAGIC>;
    REAL n = t - <MAGIC>;
    REAL r = (((x - n * <PI_HALF_1>) - n * <PI_HALF_2>) - n * <PI_HALF_3>) - n * <PI_HALF_4>;
    <INT> k = <AS_INT>(t) - <AS_INT>((REAL)<MAGIC>) + quarter;
    REAL q = r * r;
    REAL s = r + r * q * <sine(q)>;
    REAL c = (REAL)1 - (q * (REAL)0.5 - q * q * <cosine(q)>);
    REAL v = (k & 1) ? c : s;
    *far |= !(sg_fabs(x) <= <FAR>);
    return (k & 2) ? -v : v;
}

OWN sg_sin(REAL x, int* far) { REAL y = sg_turned(x, 0, far); return x == (REAL)0 ? x : y; }

OWN sg_cos(REAL x, int* far) { return sg_turned(x, 1, far); }

OWN sg_tan(REAL x, int* far) { REAL y = sg_turned(x, 0, far) / sg_turned(x, 1, far); return x == (REAL)0 ? x : y; }

OWN sg_asin(REAL x) {
    REAL a = sg_fabs(x);
    int near = a < (REAL)0.5;
    REAL q = near ? a * a : ((REAL)1 - a) * (REAL)0.5;
    REAL s = near ? a : sqrt(q);
    REAL p = s * q * <asin(q)>;
    REAL y = near ? a + p : <ANGLE_1> - ((s + s) - (<ANGLE_2> - (p + p)));
    return sg_copysign(y, x);
}

OWN sg_acos(REAL x) {
    REAL a = sg_fabs(x);
    int near = a < (REAL)0.5;
    REAL q = near ? x * x : ((REAL)1 - a) * (REAL)0.5;
    REAL s = near ? x : sqrt(q);
    REAL p = s * q * <asin(q)>;
    REAL w = (p + p) + (s + s);
    REAL far = x < (REAL)0 ? <ANGLE_1> + <ANGLE_1> - ((s + s) - ((<ANGLE_2> + <ANGLE_2>) - (p + p))) : w;
    return near ? <ANGLE_1> - (s - (<ANGLE_2> - p)) : far;
}

OWN sg_angle(REAL a, REAL b) {
    int low = a <= b - a, high = a - b > b;
    REAL s = a > <HIGH> ? (REAL)0.5 : (REAL)1, c = a * s, d = b * s;
    REAL z = (low ? a : (high ? -b : c - d)) / (low ? b : (high ? a : c + d));
    z = a == b ? (REAL)0 : z;
    REAL q = z * z;
    REAL p = z * q * <atan(q)>;
    REAL turn = high ? (REAL)1 : (REAL)0.5;
    REAL far = turn * <ANGLE_1> + (z + (p + turn * <ANGLE_2>));
    return (low && b > (REAL)0) ? z + p : (a == (REAL)0 ? a : far);
}

OWN sg_atan(REAL x) { return sg_copysign(sg_angle(sg_fabs(x), (REAL)1), x); }

OWN sg_atan2(REAL y, REAL x) {
    REAL a = sg_fabs(y), b = sg_fabs(x);
    REAL t = sg_angle(a, b);
    t = sg_copysign((REAL)1, x) < (REAL)0 ? <ANGLE_1> + <ANGLE_1> - (t - (<ANGLE_2> + <ANGLE_2>)) : t;
    return (x == x && y == y) ? sg_copysign(t, y) : x + y;
}
"""

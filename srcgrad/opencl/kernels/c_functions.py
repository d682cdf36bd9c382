"""The functions in C that kernels call: exponentials, logarithms, powers, angles, quotients, special ones."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache, lru_cache
from math import factorial, frexp

ANGLES = """
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


EXPONENTIALS = """
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


LOGARITHMS = """
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


POWERS = """
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


QUOTIENTS = """
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


SPECIAL = """
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


_FLOAT = {
    "INT": "int", "AS_INT": "as_int", "AS_REAL": "as_float", "MAGIC": "12582912.0f", "LOG2E": "1.44269504088896341f",
    "BIAS": "127", "BITS": "23", "F": "f", "TOP2": "129", "BOTTOM2": "-151", "TOP": "88.8f", "BOTTOM": "-104.0f",
    "TINY": "1.17549435e-38f", "UP": "33554432.0f", "UP_BITS": "25", "MANTISSA": "0x007fffff", "HALF": "0x3f000000",
    "SQRT_HALF": "0.70710678118654752f", "LEFT": "-18.0f", "POSITIVE": "0x7fffffff", "UPPER": "0xfffff000",
    "LARGE": "1.0e9f", "HIGH": "1.0e18f", "DOWN": "7.888609052210118e-31f", "LOW": "1.0e-12f",
    "UPWARD": "1.2676506002282294e30f", "FAR": "3000.0f", "GAMMA_TOP": "36.0f",
    "LEAP": "1024.0f",
}  # fmt: skip
_DOUBLE = {
    "INT": "long", "AS_INT": "as_long", "AS_REAL": "as_double", "MAGIC": "6755399441055744.0",
    "LOG2E": "1.44269504088896340736", "BIAS": "1023", "BITS": "52", "F": "", "TOP2": "1025", "BOTTOM2": "-1076",
    "TOP": "709.9", "BOTTOM": "-746.0", "TINY": "2.2250738585072014e-308", "UP": "18014398509481984.0",
    "UP_BITS": "54", "MANTISSA": "0x000fffffffffffffL", "HALF": "0x3fe0000000000000L",
    "SQRT_HALF": "0.70710678118654752440", "LEFT": "-38.0", "POSITIVE": "0x7fffffffffffffffL",
    "UPPER": "0xfffffffff8000000L", "LARGE": "1.0e17", "HIGH": "1.0e150", "DOWN": "2.409919865102884e-181",
    "LOW": "1.0e-100", "UPWARD": "4.149515568880993e180", "FAR": "1.0e6",
    "GAMMA_TOP": "172.0", "LEAP": "16777216.0",
}  # fmt: skip
_TERMS = {  # how many of the Taylor polynomials
    "float": {"exponential": 6, "logarithm": 5, "sine": 5},
    "double": {"exponential": 12, "logarithm": 11, "sine": 9},
}
_ERF = {  # erf(x) / x in powers of x^2, |x| <= 1/2
    "float": [
        1.1283791656017914, -0.37612609007469805, 0.11282831428465862, -0.026757732735015517,
        0.004719082567218814,
    ],
    "double": [
        1.1283791670955126, -0.37612638903183476, 0.11283791670925353, -0.026866170632887928,
        0.00522397737302147, -0.0008548297753674966, 0.00012053335124353741, -1.4845849259707869e-05,
        1.4725865480556744e-06,
    ],
}  # fmt: skip
_ERFC = {  # e^(x^2) erfc(x) (1 + 2 x) in powers of (x - 4) / (x + 4), 1/2 <= x <= 28
    "float": [
        1.2329951186483874, -0.13962111520756534, 0.01537965018103996, 0.06809697340313867,
        -0.10103905586306522, 0.09373399005475982, -0.06633009896586652, 0.03716034982277849,
        -0.016200647695329327, 0.005054071792630687, -0.0007467487061055278, -0.000233666025500406,
        0.0001324581236116876,
    ],
    "double": [
        1.2329951186255526, -0.1396211168405625, 0.015379652102620043, 0.06809705425469156,
        -0.1010390660363253, 0.09373283499839567, -0.06633036581163926, 0.03716751553665194,
        -0.01619773406609872, 0.005031969985744386, -0.0007577732182915514, -0.0001992567342813841,
        0.0001506213013213659, -2.4399109226750293e-05, -1.122073599378266e-05, 5.709653448198149e-06,
        2.908832116984484e-07, -8.257610605828153e-07, 7.892051206114201e-08, 1.1118107933650894e-07,
        -2.181031455474073e-08, -1.5628347513174694e-08, 3.802334862323705e-09, 2.2548217413104383e-09,
        -4.0959338868730607e-10, -2.4403200952236037e-10,
    ],
}  # fmt: skip
_ATAN = {  # (atan(z) / z - 1) / q, q = z^2 <= 1/4
    "float": [
        -0.33333332901484686, 0.1999987524978264, -0.14279801095810957, 0.11006880681346318,
        -0.08235505763636282, 0.04225685963021552,
    ],
    "double": [
        -0.3333333333333333, 0.19999999999999488, -0.14285714285599188, 0.11111111100917376,
        -0.09090908620322523, 0.07692294712540285, -0.06666435677235948, 0.05879578429582425,
        -0.05240099507994713, 0.04628024868570153, -0.03806653672057366, 0.025006503566489507,
        -0.009215792047089858,
    ],
}  # fmt: skip
_ASIN = {  # (asin(z) / z - 1) / q, q = z^2 <= 1/4
    "float": [
        0.16666666337430908, 0.07500094543497424, 0.04459940152851218, 0.03110066273549457,
        0.017149238357677253, 0.03369084720283012,
    ],
    "double": [
        0.16666666666666669, 0.07499999999998433, 0.04464285714635543, 0.030381944138531247,
        0.02237217294214989, 0.017352392720869973, 0.013971212973552933, 0.011479177415184906,
        0.01032281435018578, 0.005457506718640358, 0.01740087944269402, -0.014851887071247204,
        0.028757851367421566,
    ],
}  # fmt: skip
_LOG2 = {  # (artanh(s) / s - 1 - q / 3) / q^2, q = s^2 <= 0.0295
    "float": [
        0.1999999995240219, 0.14285765963608102, 0.11102375093743541, 0.09560389340279776,
    ],
    "double": [
        0.2, 0.14285714285714685, 0.11111111110827367, 0.0909090916782708, 0.07692297467298959,
        0.06667403106050301, 0.05853097844940682, 0.058618018114527055,
    ],
}  # fmt: skip
_CBRT = {  # cbrt(1 + f), 1 + f next to 1, roughly
    "float": [
        1.000055710750878, 0.3338203415773851, -0.11527069039521294, 0.05581122472051606,
    ],
    "double": [
        0.9999993820104695, 0.3333159207625349, -0.11100089136810636, 0.06245218449875826,
        -0.04435650623891691, 0.02556608271860522,
    ],
}  # fmt: skip
_LGAMMA = {  # lgamma(2 + t) / t, -3/4 <= t <= 1/2
    "float": [
        0.4227843358843693, 0.3224670601272164, -0.06735241361894359, 0.020579636000195897,
        -0.007383382464217894, 0.0029051253448932743, -0.0012038335492377057, 0.0004381511189668745,
        -0.00021849620638349777, 0.00022629142531743645,
    ],
    "double": [
        0.42278433509846713, 0.3224670334241132, -0.06735230105319819, 0.020580808427788703,
        -0.007385551028663193, 0.002890510330482064, -0.0011927539122376619, 0.0005096695320648715,
        -0.00022315474408602818, 9.945740198894934e-05, -4.4926464931326535e-05, 2.0508175353649692e-05,
        -9.43727020655551e-06, 4.370089307840295e-06, -2.052482416724873e-06, 9.670254916827003e-07,
        -4.018330416059452e-07, 2.0758927598859588e-07, -1.9264000508094273e-07, 6.2426286817793866e-09,
        5.025731736555141e-08, 7.558472696788447e-08,
    ],
}  # fmt: skip
_STIRLING = {  # x times what lacks to (x - 1/2) log x - x + log(2 pi) / 2, in w = 1 / x^2, x >= 8
    "float": [
        0.08333330939153766, -0.0027655018025744085,
    ],
    "double": [
        0.0833333333333333, -0.002777777777606244, 0.0007936506649488252, -0.0005952025951802712,
        0.0008372834512071336, -0.0016526004455595122,
    ],
}  # fmt: skip
_DIGAMMA = {  # digamma(3/2 + t) / (3/2 + t - its zero), |t| <= 1/2
    "float": [
        0.9510558760318328, -0.42362749747529066, 0.24054253501497624, -0.1483988613883281,
        0.09498468507487738, -0.062055980386091954, 0.040850026740824504, -0.025786883631264544,
        0.01711498899971067, -0.016373620255320655, 0.010902588672572695,
    ],
    "double": [
        0.951055876031833, -0.4236274212814605, 0.2405424842407742, -0.14840492305390884, 0.09498872445494122,
        -0.061922133273064534, 0.04076083381242074, -0.02697579675613825, 0.0179072524394512,
        -0.011908218001568644, 0.007926944646403797, -0.005279964873257405, 0.003519006401502276,
        -0.002345267632540769, 0.0015566317474486838, -0.0010376374098418604, 0.0007233266279287554,
        -0.0004821990530566789, 0.0002272331660987376, -0.00015148586836773365, 0.00025968482126430747,
        -0.00017312261802727394,
    ],
}  # fmt: skip
_DIGAMMA_FAR = {  # x^2 (log x - 1 / (2 x) - digamma(x)), in w = 1 / x^2, x >= 8
    "float": [
        0.08333321417101687, -0.008272198552423103,
    ],
    "double": [
        0.08333333333333333, -0.008333333333278636, 0.0039682539119537084, -0.0041666448230497,
        0.007571689620283902, -0.020697987372370493, 0.06362150587634356,
    ],
}  # fmt: skip
_FITTED = {
    "erf": _ERF, "erfc": _ERFC, "atan": _ATAN, "asin": _ASIN, "log2": _LOG2, "cbrt": _CBRT, "lgamma": _LGAMMA,
    "stirling": _STIRLING, "digamma": _DIGAMMA, "digamma_far": _DIGAMMA_FAR,
}  # fmt: skip

_PI = Fraction(31415926535897932384626433832795028841971693993751058209749445923, 10**64)
_LN2 = Fraction(69314718055994530941723212145817656807550013436025525412068000949, 10**65)
_LN10 = Fraction(23025850929940456840179914546843642076011014886287729760333279010, 10**64)
_DIGAMMA_ZERO = Fraction(14616321449683623412626595423257213284681962040064463512959884086, 10**64)
_WHOLE, _HALF = {"float": 24, "double": 53}, {"float": 12, "double": 26}
# the number, the digits (binary) of all its parts but the last, how many parts: n times a part is to be exact, or
# the first half of another number times it
_PARTS = {
    "LN2": (_LN2, {"float": 10, "double": 32}, 2),
    "LOG10_2": (_LN2 / _LN10, {"float": 10, "double": 32}, 2),
    "PI_HALF": (_PI / 2, {"float": 11, "double": 33}, 4),  # n < 2^11, 2^20: as long as |x| <= FAR
    "INVERSE_LN2": (1 / _LN2, _HALF, 2),
    "INVERSE_LN10": (1 / _LN10, _HALF, 2),
    "TWICE_LOG2E": (2 / _LN2, _WHOLE, 2),
    "THIRD": (Fraction(1, 3), _WHOLE, 2),
    "ANGLE": (_PI / 2, _WHOLE, 2),
    "DIGAMMA_ZERO": (_DIGAMMA_ZERO, _WHOLE, 2),
}


def fill_in_numbers(text: str, real: str) -> str:
    """The C with its numbers."""
    names, suffix = (_FLOAT, "f") if real == "float" else (_DOUBLE, "")
    text = re.sub(r"<([a-z]\w*)\((\w)\)>", lambda m: _horner(_coefficients(m[1], real), m[2], suffix), text)
    for name, (value, bits, count) in _PARTS.items():
        if f"<{name}_" in text:
            for number, part in enumerate(_in_parts(value, bits[real], count), 1):
                text = text.replace(f"<{name}_{number}>", f"({part!r}{suffix})")
    return re.sub(r"<([A-Z]\w*)>", lambda m: names[m[1]], text)


def _in_parts(value: Fraction, bits: int, count: int) -> list[float]:
    """A number as a sum: all parts but the last have so many bits, the last one is the rest, rounded."""
    parts: list[float] = []
    for _ in range(count - 1):
        unit = Fraction(2) ** (frexp(float(value))[1] - bits)
        parts.append(float(value // unit * unit))
        value -= Fraction(parts[-1])
    return [*parts, float(value)]


def _coefficients(name: str, real: str) -> list[float]:
    """Of a polynomial, the constant one first."""
    if name in _FITTED:
        return _FITTED[name][real]
    terms = range(_TERMS[real]["sine" if name == "cosine" else name])
    if name == "exponential":  # (e^r - 1 - r) / r^2 in r
        return [1.0 / factorial(k + 2) for k in terms]
    if name == "logarithm":  # 2 (artanh(s) / s - 1) / q in q = s^2
        return [2.0 / (2 * k + 3) for k in terms]
    if name == "sine":  # (sin(r) / r - 1) / q in q = r^2
        return [(-1.0) ** (k + 1) / factorial(2 * k + 3) for k in terms]
    return [(-1.0) ** k / factorial(2 * k + 4) for k in terms]  # (cos(r) - 1 + q / 2) / q^2 in q = r^2


def _horner(coefficients: list[float], variable: str, suffix: str) -> str:
    text = f"{coefficients[-1]!r}{suffix}"
    for coefficient in reversed(coefficients[:-1]):
        text = f"({text} * {variable} + {coefficient!r}{suffix})"
    return text


_CALLED = """acos acosh asin asinh atan atan2 atanh cbrt copysign cos cosh digamma erf erfc exp exp2 expm1 fabs floor
floor_divide fmod ceil trunc fmax fmin hypot isnan lgamma log log10 log1p log2 logaddexp maximum minimum pow remainder
sign sin sinh sqrt tan tanh tgamma"""
FUNCTIONS = frozenset(_CALLED.split())  # what a kernel may call: others of the runtimes are slower than NumPy's
FLAGGED = {"sin": "x", "cos": "x", "tan": "x", "fmod": "x, y", "remainder": "x, y", "floor_divide": "x, y"}
# they note in `sg_far` what is too large for them; what they are given

_HEAD = """
#define OWN static inline __attribute__((always_inline)) REAL
#if defined(__clang__) && defined(__x86_64__)
#define sqrt __builtin_sqrt<F>
#define floor __builtin_floor<F>
#define ceil __builtin_ceil<F>
#define trunc __builtin_trunc<F>
#define fmax __builtin_fmax<F>
#define fmin __builtin_fmin<F>
#if __clang_major__ >= 11
#define SG_ANY_ORDER _Pragma("clang fp reassociate(on)")
#endif
#define SG_ASK(at, bytes) sg_ask((__global const char*)(at), bytes);
static __attribute__((noinline)) void sg_ask(__global const char* at, size_t bytes) {
    for (size_t b = 0; b < bytes; b += 64) __builtin_prefetch(at + b, 0, 2);
}
#else
#define SG_ASK(at, bytes)
#define fmax(x, y) fmax((REAL)(x), (REAL)(y))
#define fmin(x, y) fmin((REAL)(x), (REAL)(y))
#endif
"""
_CHOICES = """
OWN sg_maximum(REAL x, REAL y) { return (x > y || x != x) ? x : y; }

OWN sg_minimum(REAL x, REAL y) { return (x < y || x != x) ? x : y; }

OWN sg_sign(REAL x) { return x > (REAL)0 ? (REAL)1 : (x < (REAL)0 ? (REAL)-1 : (x == (REAL)0 ? (REAL)0 : x)); }
"""


def prelude(real: str, text: str) -> str:
    """The C of the functions that a text calls, for `float` or `double`."""
    known = _functions()
    words, called = set(_words(text)), called_in(text)
    wanted: set[str] = set()
    waiting = [f"sg_{name}" for name in called]
    waiting += [f"far_{name}" for name in FLAGGED if name in called or f"far_{name}" in words]
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            waiting += set(_words(known[name])) & known.keys()
    pieces = [_HEAD, *(code for name, code in known.items() if name in wanted)]
    for name in called:
        given = FLAGGED.get(name)
        pieces.append(f"#define {name}({given}) sg_{name}({given}, &sg_far)" if given else f"#define {name} sg_{name}")
    extension = "" if real == "float" else "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    return f"{extension}#define REAL {real}" + fill_in_numbers("\n".join(pieces), real) + "\n"


def called_in(text: str) -> list[str]:
    """Those of our functions that a text calls, by their usual names."""
    return [name for name in sorted(FUNCTIONS.intersection(_words(text))) if f"sg_{name}" in _functions()]


@cache
def _functions() -> dict[str, str]:
    """Every function by its name, after those that it calls."""
    text = "".join((_CHOICES, EXPONENTIALS, LOGARITHMS, POWERS, ANGLES, SPECIAL, QUOTIENTS))
    return {re.findall(r"(\w+)\(", code)[0]: code for code in text.strip().split("\n\n")}


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


@lru_cache(maxsize=4096)
def identifier(name: str) -> str:
    """A Python name as one of C: no keyword, no function, no name of the loops around; letters of ASCII only."""
    plain = "".join(c if c.isascii() else f"_u{ord(c):x}_" for c in name)
    bare = plain.rstrip("_")  # what differs in its last underscores only must not become one name
    taken = bare in _TAKEN or bare in FUNCTIONS or plain.startswith(("__", "sg_", "far_")) or _OWN.fullmatch(bare)
    return f"{plain}_" if taken else plain


_RESERVED = """auto bool break case char const constant continue default do double else enum extern float for global
goto half if inline int kernel local long private register restrict return short signed sizeof size_t static struct
switch typedef union unsigned void volatile while image2d_t event_t sampler_t uchar ulong REAL OWN SUM_TYPE NAN INFINITY
main fma fmod rint round at i l b r g groups share start from to first last begin end whole me gap j0 j1 j2 q1 q2
rows row d1 d2 SUM MEAN PROD MAX MIN SUM_TO SPREAD FILL AXIS COUNT CUMSUM CUMPROD STORE LANE"""
_TAKEN = frozenset(_RESERVED.split())
_OWN = re.compile(
    r".*_(in|out|row|acc|sum|total|block|tree|step|cols|tmp|run|start|before|by|factors|any|left|s\d|v\d+)|part\d+"
)  # of the loops around

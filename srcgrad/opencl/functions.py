"""Our own mathematical functions in OpenCL C, for `REAL`: branch-free, `a * b + c` only, so that loops vectorise.

exp, expm1: with n the integer next to x / ln 2, e^x = 2^n e^r for r = x - n ln 2, |r| <= ln 2 / 2, and e^r - 1 is its
Taylor polynomial. ln 2 is taken off in two parts, the first of which ends in so many zeros that n times it is exact
(Cody and Waite). log: x = 2^k m with m next to 1, and log m = 2 artanh((m - 1) / (m + 1)), a series in odd powers.
tanh(x) = -expm1(-2 |x|) / (2 + expm1(-2 |x|)), with the sign of x. sin, cos, tan: n times pi / 2 is taken off in four
parts, and Taylor polynomials serve on [-pi / 4, pi / 4]. Beyond `FAR`, n times a part is not exact any more: such an
argument is noted in `sg_far`, and its block of elements is computed again with the runtime's functions. erf, erfc:
polynomials through Chebyshev nodes, computed with 60 digits; e^(-x^2) is e^(-h^2) e^((h - x)(h + x)) for an h next to
x with few digits, so that h^2 is exact.
"""

from __future__ import annotations

from fractions import Fraction
from math import factorial, frexp

_FLOAT = {
    "REAL": "float", "INT": "int", "AS_INT": "as_int", "AS_REAL": "as_float",
    "MAGIC": "12582912.0f", "LOG2E": "1.44269504088896341f",
    "BIAS": "127", "BITS": "23", "F": "f", "TOP2": "129", "BOTTOM2": "-151", "TOP": "88.8f", "BOTTOM": "-104.0f",
    "TINY": "1.17549435e-38f", "UP": "33554432.0f", "UP_BITS": "25", "MANTISSA": "0x007fffff", "HALF": "0x3f000000",
    "SQRT_HALF": "0.70710678118654752f", "LEFT": "-18.0f", "POSITIVE": "0x7fffffff", "UPPER": "0xfffff000",
}  # fmt: skip
_DOUBLE = {
    "REAL": "double", "INT": "long", "AS_INT": "as_long", "AS_REAL": "as_double",
    "MAGIC": "6755399441055744.0", "LOG2E": "1.44269504088896340736",
    "BIAS": "1023", "BITS": "52", "F": "", "TOP2": "1025", "BOTTOM2": "-1076", "TOP": "709.9", "BOTTOM": "-746.0",
    "TINY": "2.2250738585072014e-308", "UP": "18014398509481984.0", "UP_BITS": "54",
    "MANTISSA": "0x000fffffffffffffL", "HALF": "0x3fe0000000000000L", "SQRT_HALF": "0.70710678118654752440",
    "LEFT": "-38.0", "POSITIVE": "0x7fffffffffffffffL",
    "UPPER": "0xfffffffff8000000L",
}  # fmt: skip
_PI = Fraction(31415926535897932384626433832795028841971693993751058209749445923, 10**64)
_LN2 = Fraction(69314718055994530941723212145817656807550013436025525412068000949, 10**65)


def _in_parts(value: Fraction, bits: int, count: int) -> list[float]:
    """A number as a sum: all parts but the last have so many bits, the last one is the rest, rounded."""
    parts: list[float] = []
    for _ in range(count - 1):
        unit = Fraction(2) ** (frexp(float(value))[1] - bits)
        parts.append(float(value // unit * unit))
        value -= Fraction(parts[-1])
    return [*parts, float(value)]


_EXP_TERMS = {"float": 7, "double": 13}
_LOG_TERMS = {"float": 5, "double": 11}
_ERF = {  # erf(x) / x in powers of x^2, |x| <= 1/2
    "float": [
        1.1283791656017914,
        -0.37612609007469805,
        0.11282831428465862,
        -0.026757732735015517,
        0.004719082567218814,
    ],
    "double": [
        1.1283791670955126,
        -0.37612638903183476,
        0.11283791670925353,
        -0.026866170632887928,
        0.00522397737302147,
        -0.0008548297753674966,
        0.00012053335124353741,
        -1.4845849259707869e-05,
        1.4725865480556744e-06,
    ],
}
_ERFC = {  # e^(x^2) erfc(x) (1 + 2 x) in powers of (x - 4) / (x + 4), 1/2 <= x <= 28
    "float": [
        1.2329951186483874,
        -0.13962111520756534,
        0.01537965018103996,
        0.06809697340313867,
        -0.10103905586306522,
        0.09373399005475982,
        -0.06633009896586652,
        0.03716034982277849,
        -0.016200647695329327,
        0.005054071792630687,
        -0.0007467487061055278,
        -0.000233666025500406,
        0.0001324581236116876,
    ],
    "double": [
        1.2329951186255526,
        -0.1396211168405625,
        0.015379652102620043,
        0.06809705425469156,
        -0.1010390660363253,
        0.09373283499839567,
        -0.06633036581163926,
        0.03716751553665194,
        -0.01619773406609872,
        0.005031969985744386,
        -0.0007577732182915514,
        -0.0001992567342813841,
        0.0001506213013213659,
        -2.4399109226750293e-05,
        -1.122073599378266e-05,
        5.709653448198149e-06,
        2.908832116984484e-07,
        -8.257610605828153e-07,
        7.892051206114201e-08,
        1.1118107933650894e-07,
        -2.181031455474073e-08,
        -1.5628347513174694e-08,
        3.802334862323705e-09,
        2.2548217413104383e-09,
        -4.0959338868730607e-10,
        -2.4403200952236037e-10,
    ],
}
_SINE_TERMS = {"float": 5, "double": 9}
_LN2_BITS = {"float": 10, "double": 32}
_PI_BITS = {"float": 11, "double": 33}
FAR = {"float": "3000.0f", "double": "1.0e6"}  # n < 2^11, 2^20: n times the first parts of pi / 2 is exact


def _horner(coefficients: list[float], variable: str, suffix: str) -> str:
    text = f"{coefficients[-1]!r}{suffix}"
    for coefficient in reversed(coefficients[:-1]):
        text = f"({text} * {variable} + {coefficient!r}{suffix})"
    return text


def prelude(real: str) -> str:
    """The C of all of them, for `float` or `double`."""
    names, suffix = (_FLOAT, "f") if real == "float" else (_DOUBLE, "")
    exponential = _horner([1.0 / factorial(k) for k in range(2, _EXP_TERMS[real] + 1)], "r", suffix)
    logarithm = _horner([2.0 / (2 * k + 3) for k in range(_LOG_TERMS[real])], "q", suffix)
    terms = range(1, _SINE_TERMS[real] + 1)
    sine = _horner([(-1.0) ** k / factorial(2 * k + 1) for k in terms], "q", suffix)
    cosine = _horner([(-1.0) ** k / factorial(2 * k) for k in [*terms[1:], _SINE_TERMS[real] + 1]], "q", suffix)
    text = _TEXT.replace("<exponential>", exponential).replace("<logarithm>", logarithm)
    text = text.replace("<erf>", _horner(_ERF[real], "q", suffix)).replace("<erfc>", _horner(_ERFC[real], "t", suffix))
    text = text.replace("<sine>", sine).replace("<cosine>", cosine).replace("<FAR>", FAR[real])
    for number, part in enumerate(_in_parts(_PI / 2, _PI_BITS[real], 4), 1):
        text = text.replace(f"<P{number}>", f"{part!r}{suffix}")
    for name, part in zip(("<LN2_HIGH>", "<LN2_LOW>"), _in_parts(_LN2, _LN2_BITS[real], 2), strict=True):
        text = text.replace(name, f"({part!r}{suffix})")
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(f"<{name}>", names[name])
    head = "" if real == "float" else "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    return f"{head}#define REAL {real}\n#define OWN static inline __attribute__((always_inline)) REAL\n{text}"


_TEXT = """
OWN maximum(REAL x, REAL y) { return (x > y || x != x) ? x : y; }
OWN minimum(REAL x, REAL y) { return (x < y || x != x) ? x : y; }
OWN sign_(REAL x) { return x > (REAL)0 ? (REAL)1 : (x < (REAL)0 ? (REAL)-1 : (x == (REAL)0 ? (REAL)0 : x)); }

OWN fabs_(REAL x) { return <AS_REAL>(<AS_INT>(x) & <POSITIVE>); }
OWN copysign_(REAL x, REAL y) { return <AS_REAL>((<AS_INT>(x) & <POSITIVE>) | (<AS_INT>(y) & ~<POSITIVE>)); }

OWN exp_(REAL x) {
    REAL y = x > <TOP> ? <TOP> : x;
    y = y < <BOTTOM> ? <BOTTOM> : y;
    REAL t = y * <LOG2E> + <MAGIC>;
    REAL n = t - <MAGIC>;
    REAL r = (y - n * <LN2_HIGH>) - n * <LN2_LOW>;
    REAL p = r + r * r * <exponential>;
    REAL h = (n * (REAL)0.5 + <MAGIC>) - <MAGIC>;
    <INT> a = <AS_INT>(h + <MAGIC>) - <AS_INT>((REAL)<MAGIC>);
    <INT> b = <AS_INT>(n - h + <MAGIC>) - <AS_INT>((REAL)<MAGIC>);
    REAL one = <AS_REAL>((a + <BIAS>) << <BITS>), two = <AS_REAL>((b + <BIAS>) << <BITS>);
    REAL e = (p + (REAL)1) * one * two;
    return x == x ? e : x;
}

OWN expm1_(REAL x) {
    REAL y = x > <TOP> ? <TOP> : x;
    y = y < <LEFT> ? <LEFT> : y;
    REAL t = y * <LOG2E> + <MAGIC>;
    REAL n = t - <MAGIC>;
    REAL r = (y - n * <LN2_HIGH>) - n * <LN2_LOW>;
    REAL p = r + r * r * <exponential>;
    REAL h = (n * (REAL)0.5 + <MAGIC>) - <MAGIC>;
    <INT> a = <AS_INT>(h + <MAGIC>) - <AS_INT>((REAL)<MAGIC>);
    <INT> b = <AS_INT>(n - h + <MAGIC>) - <AS_INT>((REAL)<MAGIC>);
    REAL one = <AS_REAL>((a + <BIAS>) << <BITS>), two = <AS_REAL>((b + <BIAS>) << <BITS>);
    REAL e = n == (REAL)0 ? p : ((p * one + (one - <AS_REAL>((<BIAS> - b) << <BITS>))) * two);
    return x == x ? (x == (REAL)0 ? x : e) : x;
}

OWN tanh_(REAL x) {
    REAL e = expm1_((REAL)-2 * fabs_(x));
    return copysign_(e / ((REAL)2 + e), x);
}

OWN log_(REAL x) {
    int tiny = x < <TINY>;
    REAL y = tiny ? x * <UP> : x;
    <INT> bits = <AS_INT>(y);
    <INT> k = (bits >> <BITS>) - (<BIAS> - 1) - (tiny ? <UP_BITS> : 0);
    REAL m = <AS_REAL>((bits & <MANTISSA>) | <HALF>);
    int low = m < <SQRT_HALF>;
    REAL f = low ? m + m - (REAL)1 : m - (REAL)1;
    REAL n = (REAL)k - (low ? (REAL)1 : (REAL)0);
    REAL s = f / ((REAL)2 + f);
    REAL q = s * s;
    REAL z = s * q * <logarithm>;
    REAL g = n * <LN2_HIGH> + (f - (s * f - (z + n * <LN2_LOW>)));
    g = x == (REAL)0 ? -INFINITY : g;
    g = x < (REAL)0 ? NAN : g;
    return (x == x && x != INFINITY) ? g : x;
}

OWN log1p_(REAL x) {
    REAL u = (REAL)1 + x;
    REAL c = (x - (u - (REAL)1)) / u;
    REAL g = log_(u) + c;
    g = (u == INFINITY || x == (REAL)-1) ? log_(u) : g;
    return x == (REAL)0 ? x : g;
}
OWN tail_(REAL a) {
    REAL b = a < (REAL)0.5 ? (REAL)0.5 : (a > (REAL)28 ? (REAL)28 : a);
    REAL h = <AS_REAL>(<AS_INT>(b) & <UPPER>);
    REAL t = (b - (REAL)4) / (b + (REAL)4);
    return exp_(-h * h) * exp_((h - b) * (h + b)) * <erfc> / ((REAL)1 + b + b);
}

OWN erf_(REAL x) {
    REAL a = fabs_(x), q = a < (REAL)0.5 ? x * x : (REAL)0.25;
    REAL y = a < (REAL)0.5 ? x * <erf> : copysign_((REAL)1 - tail_(a), x);
    return x == x ? y : x;
}

OWN erfc_(REAL x) {
    REAL a = fabs_(x), q = a < (REAL)0.5 ? x * x : (REAL)0.25, c = tail_(a);
    REAL y = a < (REAL)0.5 ? (REAL)1 - x * <erf> : (x < (REAL)0 ? (REAL)2 - c : c);
    return x == x ? y : x;
}

OWN exp2_(REAL x) {
    REAL y = x > (REAL)<TOP2> ? (REAL)<TOP2> : x;
    y = y < (REAL)<BOTTOM2> ? (REAL)<BOTTOM2> : y;
    REAL n = (y + <MAGIC>) - <MAGIC>;
    REAL r = (y - n) * (REAL)0.69314718055994530942;
    REAL p = r + r * r * <exponential>;
    REAL h = (n * (REAL)0.5 + <MAGIC>) - <MAGIC>;
    <INT> a = <AS_INT>(h + <MAGIC>) - <AS_INT>((REAL)<MAGIC>);
    <INT> b = <AS_INT>(n - h + <MAGIC>) - <AS_INT>((REAL)<MAGIC>);
    REAL e = (p + (REAL)1) * <AS_REAL>((a + <BIAS>) << <BITS>) * <AS_REAL>((b + <BIAS>) << <BITS>);
    return x == x ? e : x;
}

static inline REAL far_sin(REAL x) { return sin(x); }
static inline REAL far_cos(REAL x) { return cos(x); }
static inline REAL far_tan(REAL x) { return tan(x); }

OWN turned_(REAL x, <INT> quarter, int* far) {
    REAL t = x * (REAL)0.63661977236758134308 + <MAGIC>;
    REAL n = t - <MAGIC>;
    REAL r = (((x - n * <P1>) - n * <P2>) - n * <P3>) - n * <P4>;
    <INT> k = <AS_INT>(t) - <AS_INT>((REAL)<MAGIC>) + quarter;
    REAL q = r * r;
    REAL s = r + r * q * <sine>;
    REAL c = (REAL)1 - (q * (REAL)0.5 - q * q * <cosine>);
    REAL v = (k & 1) ? c : s;
    *far |= !(fabs_(x) <= <FAR>);
    return (k & 2) ? -v : v;
}

OWN sin_(REAL x, int* far) { REAL y = turned_(x, 0, far); return x == (REAL)0 ? x : y; }
OWN cos_(REAL x, int* far) { return turned_(x, 1, far); }
OWN tan_(REAL x, int* far) { REAL y = turned_(x, 0, far) / turned_(x, 1, far); return x == (REAL)0 ? x : y; }
#define sin(x) sin_(x, &sg_far)
#define cos(x) cos_(x, &sg_far)
#define tan(x) tan_(x, &sg_far)
#define sign sign_
#define fabs fabs_
#define copysign copysign_
#define exp exp_
#define exp2 exp2_
#define erf erf_
#define erfc erfc_
#if defined(__clang__) && defined(__x86_64__)
#define sqrt __builtin_sqrt<F>
#define floor __builtin_floor<F>
#define ceil __builtin_ceil<F>
#define trunc __builtin_trunc<F>
#define fmax __builtin_fmax<F>
#define fmin __builtin_fmin<F>
#endif
#define expm1 expm1_
#define tanh tanh_
#define log log_
#define log1p log1p_
"""

_CALLED = """copysign cos erf erfc exp exp2 expm1 fabs floor ceil trunc fmax fmin isnan log log1p maximum minimum
sign sin sqrt tan tanh"""
FUNCTIONS = frozenset(_CALLED.split())  # what a kernel may call: others of the runtimes are slower than NumPy's

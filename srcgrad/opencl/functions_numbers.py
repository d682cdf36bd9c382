"""The numbers in our functions: bit patterns of the real types, constants in parts, polynomials.

In the C of a function `<NAME>` is a constant, `<NAME_1>`, `<NAME_2>`, ... are the parts of one, whose sum it is, and
`<name(x)>` is a polynomial of x. Taylor polynomials are made here; the others go through Chebyshev nodes and were
computed with 60 digits.
"""

from __future__ import annotations

import re
from fractions import Fraction
from math import factorial, frexp

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


def filled(text: str, real: str) -> str:
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

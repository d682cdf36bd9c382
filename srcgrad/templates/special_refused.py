"""Functions of `scipy.special` through which no derivative is taken, each with its reason; loaded on request.

Names are looked up when this file is read, so that a version of SciPy that lacks one does no harm.
"""

from scipy import special

from srcgrad.core.rules import constants
from srcgrad.templates.refused import declare

COUNTS = """bernoulli euler factorial factorial2 factorialk stirling2"""
ZEROS = """ai_zeros bei_zeros beip_zeros ber_zeros berp_zeros bi_zeros erf_zeros fresnel_zeros fresnelc_zeros
fresnels_zeros jn_zeros jnjnp_zeros jnp_zeros jnyn_zeros kei_zeros keip_zeros kelvin_zeros ker_zeros kerp_zeros
y0_zeros y1_zeros y1p_zeros yn_zeros ynp_zeros"""
ROOTS = """c_roots cg_roots h_roots he_roots j_roots js_roots l_roots la_roots p_roots ps_roots s_roots t_roots ts_roots
u_roots us_roots roots_chebyc roots_chebys roots_chebyt roots_chebyu roots_gegenbauer roots_genlaguerre roots_hermite
roots_hermitenorm roots_jacobi roots_laguerre roots_legendre roots_sh_chebyt roots_sh_chebyu roots_sh_jacobi
roots_sh_legendre"""
POLYNOMIALS = """chebyc chebys chebyt chebyu gegenbauer genlaguerre hermite hermitenorm jacobi laguerre legendre
sh_chebyt sh_chebyu sh_jacobi sh_legendre"""
TABLES = """legendre_p legendre_p_all assoc_legendre_p assoc_legendre_p_all sph_legendre_p sph_legendre_p_all sph_harm_y
sph_harm_y_all lqmn lqn lmbda pbdn_seq pbdv_seq pbvv_seq riccati_jn riccati_yn mathieu_even_coef mathieu_odd_coef
obl_cv_seq pro_cv_seq clpmn lpmn lpn"""
COMPLEX = """h1vp h2vp hankel1 hankel1e hankel2 hankel2e kelvin modfresnelm modfresnelp lambertw wofz sph_harm"""
WAVES = """mathieu_a mathieu_b mathieu_cem mathieu_modcem1 mathieu_modcem2 mathieu_modsem1 mathieu_modsem2 mathieu_sem
obl_ang1 obl_ang1_cv obl_cv obl_rad1 obl_rad1_cv obl_rad2 obl_rad2_cv pro_ang1 pro_ang1_cv pro_cv pro_rad1 pro_rad1_cv
pro_rad2 pro_rad2_cv ellip_harm ellip_harm_2 ellip_normal"""
NONCENTRAL = """chndtr chndtridf chndtrinc chndtrix ncfdtr ncfdtri ncfdtridfd ncfdtridfn ncfdtrinc nctdtr nctdtridf
nctdtrinc nctdtrit"""
SOLVED = """bdtri bdtrik bdtrin btdtria btdtrib chdtriv fdtridfd gdtria gdtrib gdtrix nbdtri nbdtrik nbdtrin nrdtrimn
nrdtrisd pdtrik stdtridf"""
KOLMOGOROV = """kolmogi kolmogorov smirnov smirnovi"""
DISCRETE = """bdtr bdtrc nbdtr nbdtrc"""
MULTIVARIATE = """multigammaln"""
CARLSON = """elliprd elliprj"""
INTEGRALS = """it2i0k0 it2j0y0 it2struve0 besselpoly"""
ZETA = """zetac"""
SETTINGS = """errstate geterr seterr test SpecialFunctionError SpecialFunctionWarning"""
PARTS = """voigt_profile"""

REASONS = (
    (COUNTS, "it counts; use scipy.special.gamma or gammaln"),
    (ZEROS, "it tabulates zeros, which depend on whole numbers only"),
    (ROOTS, "it tabulates nodes and weights of a quadrature; compute them outside of the function"),
    (POLYNOMIALS, "it makes an object that holds a polynomial; use scipy.special.eval_..."),
    (TABLES, "it gives a table of values and derivatives; use scipy.special.eval_legendre, lpmv or jvp"),
    (COMPLEX, "its value is complex"),
    (WAVES, "its derivative in the variable is a result of its own, and that in a parameter has no closed form"),
    (NONCENTRAL, "the density of a noncentral distribution has no closed form here"),
    (SOLVED, "it solves an equation; use the inverse in the variable: gammaincinv, betaincinv, ndtri, stdtrit"),
    (KOLMOGOROV, "its density is not a function of scipy.special"),
    (DISCRETE, "its sum is a betainc: use scipy.special.betainc"),
    (MULTIVARIATE, "it is a sum of gammaln; write the sum"),
    (CARLSON, "the derivative of this integral is no integral of Carlson's"),
    (INTEGRALS, "its derivative has no form that is stable at 0"),
    (ZETA, "the derivative of the zeta function has no closed form"),
    (PARTS, "its derivative is a part of a complex function"),
    (SETTINGS, "it is no function of numbers"),
    ("diric", "its derivative has no form that is stable at multiples of pi; write sin(n * x / 2) / (n * sin(x / 2))"),
)

constants((special.gammasgn, special.round))
for names, reason in REASONS:
    declare(special, "scipy.special", names, reason)

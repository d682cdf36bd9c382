"""Functions of `scipy.interpolate` through which no derivative is taken; loaded on request."""

from scipy import interpolate

from srcgrad.templates.refused import declare

INTERPOLANTS = """interp1d interpn griddata CubicSpline PchipInterpolator Akima1DInterpolator make_interp_spline
make_smoothing_spline make_lsq_spline make_splrep make_splprep splrep splprep splev splint sproot spalde
UnivariateSpline InterpolatedUnivariateSpline LSQUnivariateSpline RectBivariateSpline SmoothBivariateSpline BSpline
PPoly BPoly RegularGridInterpolator NdBSpline NdPPoly RBFInterpolator Rbf LinearNDInterpolator CubicHermiteSpline
NearestNDInterpolator CloughTocher2DInterpolator BarycentricInterpolator KroghInterpolator barycentric_interpolate
krogh_interpolate pchip_interpolate approximate_taylor_polynomial lagrange pade bisplrep bisplev"""

declare(
    interpolate,
    "scipy.interpolate",
    INTERPOLANTS,
    "it makes an object, or has no rule; use np.interp, or a CubicSpline that has one name and is only called",
)

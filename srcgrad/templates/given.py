"""What rules of users give, in generated code: looked at, and otherwise as it is."""

from srcgrad.core.rules import adjoint, d
from srcgrad.runtime.given import check_adjoint, check_adjoints, check_total, given_adjoints


@adjoint.linear(check_adjoint, forms=(("check_adjoint(x, y)", (2, 3), (2, 3)), ("check_adjoint(x, y)", (), ())))
def check_adjoint_adjoint(z, given, x):
    d[given] = d[z]


@adjoint.linear(
    check_adjoints,
    forms=(
        ("check_adjoints((x, y), (z, u))[0]", (2, 3), (2, 3), (3,), (2, 3)),
        ("check_adjoints((x, y), (z, u))[1]", (2, 3), (2, 3), (2, 1), (2, 3)),
    ),
)
def check_adjoints_adjoint(z, given, primals):
    d[given] = given_adjoints(d[z], given)


@adjoint.linear(
    given_adjoints,
    forms=(("given_adjoints((x, y), (z, u))[0]", (3,), (2, 3), (2, 3), (2, 3)),),
)
def given_adjoints_adjoint(z, g, given):
    d[g] = check_adjoints(d[z], g)


@adjoint.linear(check_total, forms=(("check_total(x, y)", (2, 3), (2, 3)),))
def check_total_adjoint(z, given, x):
    d[given] = d[z]

"""Laws of the second group: which points its walk takes, and why no others."""

from math import gcd

import pytest

from laneway.evm.precompiles.bn254.curve import N, P
from laneway.evm.precompiles.bn254.tower import Fp2
from laneway.evm.precompiles.bn254.twist import (
    AT_INFINITY,
    DOUBLE,
    ROUTE,
    TwistPoint,
    X,
    image,
    is_on_twist,
    opposite,
    secant,
    tangent,
    third,
    walk,
)

G: TwistPoint = (
    (
        10857046999023057135944570762232829481370756359578518086990519993285655852781,
        11559732032986387107991004021392285783925812861821192530917403151452391805634,
    ),
    (
        8495653923123431417604973247489272438418190587263600148770280649306958101930,
        4082367875863433681332203403145435568316851327593401208105741076214120093531,
    ),
)
"""The generator of EIP-197."""
COFACTOR = 2 * P - N
TRACE = 6 * X * X + 1
OFF_ORDER: dict[str, TwistPoint] = {
    "of order 10069": (
        (
            16858632407583996034699641840354551667402200720433871621066579724166060263046,
            7011995488304807728902770245279833506005730566274771046635088983544006463412,
        ),
        (
            13443952196889929148459577011683906013050710091742877106713538005674628725917,
            20836253757300055087808068963228927104508498889930062137431017828565504393460,
        ),
    ),
    "of order 5864401": (
        (
            13676950363580670315231985347213156240632996474491660677413909900080078175766,
            12908258960323505156204774540300929647666238096974125943076920829223287101609,
        ),
        (
            1848663869533891420491329140555742378766815994979830120757742238639847378628,
            19319350433451735356715640695982878605458052148780356698939793071297004945101,
        ),
    ),
    "of neither order": (
        (0, 1),
        (
            5857410223677516958241855868975604786906559121396168184066542210254491971240,
            3499505209057624827709920819629410982529044040404494099368353913743455207650,
        ),
    ),
    "of the order that is left": (
        (
            19198237439923412263536839772843637651520267759588831229467539613053340189753,
            2015725555064784297976019922003070760593075352461156661053725733266884218978,
        ),
        (
            835409245383212953214818541484469599632040208167102876664651411128481697359,
            2823534470274436355843051545867096397014640389686637961297445436109673111443,
        ),
    ),
}


def add(first: TwistPoint | None, second: TwistPoint | None) -> TwistPoint | None:
    """None is infinity."""
    if first is None or second is None:
        return first or second
    slope: Fp2 | None = tangent(first) if first == second else secant(first, second)
    return None if slope is None else third(first, second, slope)[0]


def times(scalar: int, point: TwistPoint) -> TwistPoint | None:
    found: TwistPoint | None = None
    for bit in format(scalar, "b"):
        found = add(found, found)
        if bit == "1":
            found = add(found, point)
    return found


def test_the_parameter_is_that_of_the_curve() -> None:
    assert P == 36 * X**4 + 36 * X**3 + 24 * X**2 + 6 * X + 1
    assert N == P + 1 - TRACE


def test_only_points_of_the_group_have_the_sum_that_the_walk_looks_for() -> None:
    """Of (6X + 2) + ψ - ψ² + ψ³, with ψ² = TRACE · ψ - P, remains a + bψ."""
    sum_of_powers = [6 * X + 2, 1, -1, 1]
    while len(sum_of_powers) > 2:
        highest = sum_of_powers.pop()
        sum_of_powers[-1] += TRACE * highest
        sum_of_powers[-2] -= P * highest
    a, b = sum_of_powers
    assert gcd(a * a + TRACE * a * b + P * b * b, N * COFACTOR) == N
    assert COFACTOR % N != 0
    assert (6 * X + 2 + P - P**2 + P**3) % N == 0


def test_no_point_is_its_own_opposite() -> None:
    assert N * COFACTOR % 2 == 1


@pytest.mark.parametrize("scalar", [1, 2, 3, 6 * X + 2, N - 1, N // 3])
def test_a_point_of_the_group_is_walked_to_its_end(scalar: int) -> None:
    point = times(scalar, G)
    assert point is not None
    assert is_on_twist(*point)
    assert len(walk(point) or []) == len(ROUTE)
    assert times(N, point) is None


def test_the_endomorphism_multiplies_by_the_prime_in_the_group() -> None:
    assert image(G, 1) == times(P % N, G)
    assert image(G, 2) == times(P * P % N, G)
    assert image(G, 3) == times(P**3 % N, G)


def test_the_endomorphism_has_its_equation_on_every_point() -> None:
    for point in OFF_ORDER.values():
        turned = times(TRACE, image(point, 1))
        assert add(image(point, 2), times(P, point)) == turned


@pytest.mark.parametrize("name", OFF_ORDER)
def test_a_point_of_another_order_is_refused(name: str) -> None:
    point = OFF_ORDER[name]
    assert is_on_twist(*point)
    assert times(N, point) is not None
    assert times(N * COFACTOR, point) is None
    assert walk(OFF_ORDER[name]) is None


def test_a_point_that_meets_itself_on_the_way_is_refused() -> None:
    """With x = 0 a point has order three, whatever its curve; none is on the twist."""
    assert walk(((0, 0), (5, 7))) is None


def test_a_route_doubles_as_often_as_its_number_is_long() -> None:
    assert ROUTE.count(DOUBLE) == (6 * X + 2).bit_length()
    assert ROUTE[0] == DOUBLE


def test_infinity_is_on_the_twist_and_changed_coordinates_are_not() -> None:
    (x, (y0, y1)) = G
    assert is_on_twist(*AT_INFINITY)
    assert is_on_twist(*opposite(G))
    assert not is_on_twist(x, (y0, y1 + 1))
    assert not is_on_twist(x, (y1, y0))
    assert not is_on_twist((0, 0), (0, 1))

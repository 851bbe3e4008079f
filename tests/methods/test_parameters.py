"""Parameters: the values that rules allow, and parsing."""

import pytest

from hopvec.methods.parameters import Either, Integer, OneOf, Real, Reals, Size, parse


@pytest.mark.parametrize(
    ("text", "rule", "value"),
    [
        ("7", Integer(1, 9), 7),
        ("7.5", Integer(1, 9), 7.5),
        ("-0.5", Real(-1, 1), -0.5),
        ("0,0,1,4.5", Reals(8), [0, 0, 1, 4.5]),
        ("1, x", Reals(8), [1, "x"]),
        ("sqrt", Either(OneOf(("sqrt",)), Real(1, 9)), "sqrt"),
        ("3", Either(OneOf(("sqrt",)), Real(1, 9)), 3),
        ("4GB", Either(Size(), OneOf((None,))), "4GB"),
        ("much", Real(0, 1), "much"),
    ],
)
def test_strings_are_parsed_to_values(text, rule, value):
    assert parse(text, rule) == value

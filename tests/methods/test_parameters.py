"""Parameters: the values that rules allow, parsing, and documentation."""

import inspect

import pytest

from hopvec import FastRP
from hopvec.methods.parameters import (
    Either,
    Integer,
    OneOf,
    Real,
    Reals,
    Size,
    parse,
    takes_parameters_of,
)


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


@takes_parameters_of(FastRP)
class Wrapper:
    """Wraps a method.

    Parameters
    ----------
    name : str
        Its own.
    **parameters
        Those of the method,
        in two lines.

    Examples
    --------
    >>> wrapper = Wrapper("a")
    """

    def __init__(self, name, **parameters):
        self.method = FastRP(**parameters)


def test_a_class_that_takes_the_parameters_of_a_method_documents_them():
    shared = inspect.signature(FastRP).parameters
    own = inspect.signature(Wrapper).parameters
    assert list(own) == ["name", *shared]
    assert list(inspect.signature(Wrapper.__init__).parameters) == ["self", "name", *shared]
    section = FastRP.__doc__.partition("    ----------\n")[2].partition("    Examples\n")[0]
    assert f"    name : str\n        Its own.\n{section}    Examples\n" in Wrapper.__doc__
    assert "two lines" not in Wrapper.__doc__

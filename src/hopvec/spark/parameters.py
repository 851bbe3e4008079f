"""The parameters that Spark supports."""

from __future__ import annotations

from hopvec.errors import ParameterError
from hopvec.methods import FastRP

STRATEGIES = ("auto", "columns", "blocks")


def check_method(method: object, strategy: str, has_features: bool) -> None:
    """Raise ParameterError for parameters that are invalid or not supported on Spark."""
    if strategy not in STRATEGIES:
        allowed = ", ".join(map(repr, STRATEGIES))
        raise ParameterError(f"embed: strategy must be one of {allowed}, got {strategy!r}.")
    if not isinstance(method, FastRP):
        raise ParameterError(f"embed: only FastRP is supported on Spark, got {method!r}.")
    method._check()
    method._check_feature_weight(has_features)
    if method.threads is not None:
        raise ParameterError(
            f"FastRP: Spark determines the number of threads, got threads={method.threads}. Leave "
            "threads= out."
        )
    if strategy == "blocks" and method.precision == "float16":
        raise ParameterError("FastRP: precision='float16' needs strategy='columns' on Spark.")

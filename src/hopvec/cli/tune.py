"""`hopvec tune`: searches for the best parameters for a graph."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Any

import click
import pyarrow as pa
from click.core import ParameterSource

from hopvec.address import shown_address
from hopvec.cli.command import command, given_arguments, given_options, option
from hopvec.cli.feature_options import add_features, feature_options, features_file
from hopvec.cli.inputs import FILE, graph_argument, read, reading_options
from hopvec.cli.label_options import label_column_options, label_rows, read_label_file
from hopvec.cli.method_options import (
    flag,
    format_value,
    limit_data,
    method_options,
    parameter_options,
)
from hopvec.cli.outputs import json_option
from hopvec.cli.program import STOPPED
from hopvec.cli.scores import ScoreTable
from hopvec.cli.summary import parameters_text, report_rows
from hopvec.cli.terminal import Terminal
from hopvec.credentials import scrub
from hopvec.formats.destination import create_directory
from hopvec.formats.graphs.options import ReadOptions
from hopvec.formats.table_files import TableFile, write_tables
from hopvec.labels import Labels
from hopvec.methods import Method
from hopvec.run_report import RunReport
from hopvec.tuning import Trial, Tuning
from hopvec.tuning import tune as search
from hopvec.tuning.plot import check_plot_path
from hopvec.tuning.space import Space
from hopvec.tuning.suggest import number_of_trials
from hopvec.tuning.tune import SearchSettings, check_search_settings, search_space

FILES = ("best.json", "trials.csv", "search.png", "study.jsonl", "unseen.csv")


@command(
    examples=[
        "hopvec tune edges.csv labels.csv",
        "hopvec tune edges.csv labels.csv --dim 512 --normalize authors -o tuned",
        "hopvec tune edges.csv --space beta=-1:1 --space normalize=authors,full --trials 50",
        "hopvec tune edges.csv labels.csv --method node2vec --search grid",
        "hopvec tune ratings.csv --bipartite --objective recall@20",
    ]
)
@graph_argument
@click.argument("labels", type=FILE, required=False)
@option(
    "--space",
    multiple=True,
    metavar="NAME=VALUES",
    help="Search space; give the option once per parameter. VALUES is a range (-1:0), a range with "
    "steps (-1:0:0.1), a log-uniform range (log:0.125:64) or a list of values (authors,full). A "
    "list with ranges is weights=0,0,1,log:0.125:64.  [default: that of the "
    "method]",
    heading="Search",
)
@parameter_options(SearchSettings, "Search")
@option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default="tuned",
    show_default=True,
    metavar="DIR",
    help=f"Output directory for {', '.join(FILES)}; an interrupted search is resumed.",
    heading="Output",
)
@json_option
@label_column_options
@reading_options
@feature_options
@method_options
def tune(
    terminal: Terminal,
    graph: str,
    labels: str | None,
    space: tuple[str, ...],
    settings: dict[str, Any],
    output: Path,
    as_json: bool,
    labeling: dict[str, Any],
    read_options: ReadOptions,
    feature_args: dict[str, Any],
    method: Method,
) -> None:
    """Search for the best parameters for a graph.

    With LABELS, the score is the F1 of node classification with few training labels; without, it
    is the AUC of predicting held-out edges: the mean for uniform negative pairs and for pairs drawn
    in proportion to degree, so that vectors do not win by degrees alone; or, with --objective
    recall@20, how well held-out edges are recommended. The default is 20 trials of optuna with 64
    dimensions, over beta, spectrum and the weights of orders 1 and 2; with --passes 1, over the
    search space of the paper. Method options set the parameters that are not searched. Every trial
    is saved when it is done: run the same command again to resume an interrupted search, with the
    same result as without the interruption.
    """
    given = search_space(method, _space(space))
    checked = SearchSettings(**settings)
    check_search_settings(checked, labeled=labels is not None)
    _reject_unused(given, labels, labeling)
    number_of_trials(Space(method, given), checked.search, checked.trials)
    features_file(feature_args)
    limit_data(method)
    study = _prepare_directory(output)
    run = RunReport()
    classes = None if labels is None else read_label_file(terminal, labels, labeling)
    read_graph = read(terminal, run, graph, read_options, method)
    read_graph = add_features(terminal, run, read_graph, feature_args)
    best_so_far = _BestSoFar()
    try:
        with run.stage("search"), terminal.progress(best_so_far.label, "%") as progress:
            tuning = search(
                read_graph,
                classes,
                method=method,
                space=given,
                study=study,
                **settings,
                progress=progress,
                finished=best_so_far.update,
            )
    except KeyboardInterrupt:
        terminal.info(f"Stopped; the trials are in {study}. Run the same command again to resume.")
        sys.exit(STOPPED)
    table = _table(tuning)
    _write(tuning, table, output)
    table.print(terminal, as_json)
    run.parameters = tuning.to_dict()["parameters"]
    run.notes = terminal.notes
    terminal.info_rows([*([] if classes is None else label_rows(classes)), *report_rows(run)])
    best = output / "best.json"
    terminal.info(f"{best}: {_best(tuning)}")
    if tuning.untuned <= tuning.best.score:
        also = f" --params {quote(str(best))}{given_arguments('Input')}"
        shown = quote(shown_address(graph))
        terminal.info(scrub(f"Next: hopvec embed {shown} -o vectors.parquet{also}"))


class _BestSoFar:
    """The label of the progress bar: the best score so far."""

    def __init__(self) -> None:
        self._best: Trial | None = None

    def update(self, trial: Trial) -> None:
        """Update the best score after a trial."""
        if self._best is None or trial.score > self._best.score:
            self._best = trial

    def label(self) -> str:
        """The current label."""
        if self._best is None:
            return "searching"
        return f"searching, best so far {self._best.score:#.4g}"


def _space(strings: tuple[str, ...]) -> dict[str, str] | None:
    """Parse --space; None if it was not given."""
    space: dict[str, str] = {}
    for text in strings:
        name, equals, values = text.partition("=")
        if not equals or not name or not values:
            raise click.UsageError(
                f"--space must be a parameter and its values, such as beta=-1:0, got {text!r}"
            )
        if name in space:
            raise click.UsageError(f"--space names {name} twice")
        space[name] = values
    return space or None


def _reject_unused(
    searched: Mapping[str, Any], labels: str | None, labeling: Mapping[str, Any]
) -> None:
    """Raise UsageError for options that would have no effect."""
    ctx = click.get_current_context()
    for name in searched:
        if name in ctx.params and ctx.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise click.UsageError(
                f"{flag(name)} sets a parameter that is searched. Remove {flag(name)}, or search "
                "other parameters with --space"
            )
    if "dim" in searched and "--search-dim" in given_options("Search"):
        raise click.UsageError("--search-dim has no effect if dim is searched; remove it")
    unused = [name for name, value in labeling.items() if value is not None]
    if labels is None and unused:
        raise click.UsageError(f"{flag(unused[0])} needs a file of labels")


def _prepare_directory(output: Path) -> Path:
    """Create the output directory, check that it is writable, and return the study file."""
    check_plot_path(output / "search.png")
    create_directory(output, *FILES)
    return output / "study.jsonl"


def _write(tuning: Tuning, table: ScoreTable, output: Path) -> None:
    """Write the results next to the study file."""
    table.write(output / "trials.csv")
    if tuning.unseen is not None:
        pairs = _pairs(tuning.unseen)
        write_tables(TableFile(output / "unseen.csv", pairs.schema, pairs.to_batches()))
    tuning.plot(output / "search.png")
    tuning.save(output / "best.json")


def _pairs(labels: Labels) -> pa.Table:
    """The labels as a table, one row per pair of id and label."""
    rows, classes = labels.matrix.nonzero()
    names = pa.array([labels.classes[at] for at in classes], pa.string())
    return pa.table({"id": labels.ids.take(pa.array(rows)), "label": names})


def _table(tuning: Tuning) -> ScoreTable:
    """The trials, ready for each kind of output."""
    names = ["trial", *tuning.dimensions, "orders", "score", "seconds"]
    rows = [
        [
            str(trial.number),
            *(_cell(trial.parameters[name]) for name in tuning.dimensions),
            orders,
            trial.score,
            trial.seconds,
        ]
        for trial, orders in zip(tuning.trials, tuning.orders, strict=True)
    ]

    def show(terminal: Terminal) -> None:
        cells = [[f"{v:#.4g}" if isinstance(v, float) else v for v in row[:-1]] for row in rows]
        best = {(tuning.best.number - 1, at) for at in range(len(names) - 1)}
        title, heads = _best(tuning), [*names[:-2], tuning.measure]
        terminal.print_table(title, heads, cells, numbers=len(heads) - 1, bold=best)

    return ScoreTable(tuning.to_dict(), names, rows, show)


def _cell(value: Any) -> float | str:
    return value if isinstance(value, float) else format_value(value)


def _best(tuning: Tuning) -> str:
    values = {"method": type(tuning.method).__name__, **tuning.best.parameters}
    found = f"{parameters_text(values)}, {tuning.measure} {tuning.best.score:#.4g}"
    return f"{found} (untuned: {tuning.untuned:#.4g})"

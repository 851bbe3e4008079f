"""Embeds Debian's package graph and shows the nearest neighbours of five packages."""

import logging
import sys
import time

import hopvec

PACKAGES = ("python3-numpy", "postgresql-15", "firefox-esr", "gcc-12", "gimp")


def show_progress(done: int, of: int) -> None:
    """A bar on the terminal, nothing elsewhere."""
    if sys.stderr.isatty():
        bar = "#" * (30 * done // of)
        print(f"\rembedding [{bar:30}] {done}/{of} slabs", end="", file=sys.stderr)
        if done == of:
            print(file=sys.stderr)


def peak_memory() -> float:
    """The peak memory of this process in MB, where the system tells it."""
    try:
        import resource
    except ImportError:  # Windows
        return float("nan")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak / 1e3


def main() -> None:
    """Runs the example."""
    logging.basicConfig(format="%(name)s: %(message)s")
    start = time.perf_counter()
    graph, sections = hopvec.datasets.debian()
    print(f"Debian 12: {graph}, read in {time.perf_counter() - start:.2f} s", flush=True)

    method = hopvec.FastRP(dim=256, seed=7)
    start = time.perf_counter()
    embedding = method.embed(graph, progress=show_progress)
    seconds = time.perf_counter() - start
    print(
        f"{embedding} in {seconds:.2f} s; peak memory of the whole program {peak_memory():.0f} MB\n"
    )

    section_of = dict(zip(graph.ids.to_pylist(), sections.to_pylist(), strict=True))
    for package in PACKAGES:
        print(f"{package} ({section_of[package]})")
        for name, similarity in embedding.nearest(package, 5):
            print(f"    {similarity:.3f}  {name} ({section_of[name]})")


if __name__ == "__main__":
    main()

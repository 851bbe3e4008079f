"""The table of docs/scale.md: where the time of a run on Spark goes."""

from typing import Any

from benchmarks.markdown import number, table

MEGABYTE = 1e6
INGEST = (
    *("check the edges", "merge edges", "collect ids", "number nodes", "count nodes"),
    *("pack nodes", "join edges", "pack edges"),
)


def section(found: dict[str, Any]) -> str:
    """What was run, a row for each stage of each strategy, and the ratio to one machine."""
    machine, alone = found["machine"], found["one_machine"]
    intro = (
        f"{found['edges']:,} edges with texts as ids, {found['nodes']:,} nodes, dim "
        f"{found['dim']}, from a folder of Parquet to a folder of Parquet on {machine['cores']} "
        f"cores ({machine['processor']}, load {machine['load_before']:.1f} before), `local` "
        "master; made by `python -m benchmarks.spark`. CPU time is that of Spark and all its "
        f"Python processes. On one machine, hopvec takes {number(alone['embed_cpu_seconds'])} s "
        f"of CPU for the embedding, and {number(alone['read_cpu_seconds'])} s for reading."
    )
    return "\n\n".join([intro, *(run(name, one, alone) for name, one in found["spark"].items())])


def run(name: str, found: dict[str, Any], alone: dict[str, Any]) -> str:
    """The stages of one run."""
    rows = []
    for stage, took in found["stages"].items():
        shuffled = found["shuffled_bytes"].get(stage, 0) / MEGABYTE
        rows.append([stage, number(took["seconds"]), number(took["cpu_seconds"]), number(shuffled)])
    stages = found["stages"].values()
    wall, cpu = (sum(stage[key] for stage in stages) for key in ("seconds", "cpu_seconds"))
    total = sum(found["shuffled_bytes"].values()) / MEGABYTE
    rows.append(["**in all**", number(wall), number(cpu), number(total)])
    title = f'"{name}"' + (f", {found['blocks']} blocks" if name == "blocks" else "")
    note = f"{title}, expected {number(found['expected_seconds'])} s:"
    if "stages_when_warm" in found:
        warm = found["stages_when_warm"].items()
        engine = sum(took["cpu_seconds"] for stage, took in warm if stage not in INGEST)
        times = number(engine / alone["embed_cpu_seconds"])
        note = (
            f"{note[:-1]}. A second run in the same session, whose vectors are not written, takes "
            f"{number(engine)} s of CPU from the cells on: {times} times that of one machine:"
        )
    header = ["stage", "seconds", "CPU seconds", "shuffled MB"]
    return f"{note}\n\n{table(header, rows)}"

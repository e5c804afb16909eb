"""The command `python -m bench`: asks the questions, prints the table; it fails only when it could not measure."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Annotated

import typer
import uvloop

from bench.engine import running_engine
from bench.lab import open_lab
from bench.machine import Neighbours, machine
from bench.measure import Row
from bench.questions import QUESTIONS
from bench.report import print_table, say
from bench.scale import FULL, QUICK, Scale

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def main(
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes, in a few minutes: to try things out.")] = False,
    only: Annotated[list[str] | None, typer.Option(help=f"Ask this alone: {', '.join(QUESTIONS)}.")] = None,
) -> None:
    """Measure what a fork costs. A row that falls short is said to; it is no error."""
    unknown = sorted(set(only or ()) - QUESTIONS.keys())
    if unknown:
        raise typer.BadParameter(f"there is no question {unknown[0]!r}; there are {', '.join(QUESTIONS)}")
    scale = QUICK if quick else FULL
    began = time.monotonic()
    rows = uvloop.run(_ask(scale, only or list(QUESTIONS)))
    title = f"Plait, {scale.name} run on {machine()}; {time.monotonic() - began:.0f} s"
    print_table(rows, title)


async def _ask(scale: Scale, names: list[str]) -> list[Row]:
    rows: list[Row] = []
    neighbours = Neighbours()
    async with running_engine() as engine:
        lab = await open_lab(scale, engine)
        for name, question in QUESTIONS.items():
            if name in names:
                say(f"{name} …")
                answer = await question(lab)
                others = neighbours.share()
                rows += [replace(row, others=others) if row.others is None else row for row in answer]
                neighbours = Neighbours()
    return rows


if __name__ == "__main__":
    app()

"""A small tree with one of everything that analysts ask about, made through the API."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.client import Client, Refusal


@dataclass(frozen=True)
class SampleTree:
    """Ids by name. The tree:

    root     r1 codex, r2 codex, r3 claude
    native   forked at r1; f1 on codex, by a native fork
    fallback forked at r1; f2 on codex, whose native fork was refused, so by a portable handoff; a late report
    told     forked at r2; f3 on claude, by a portable handoff
    unused   forked at r3; never ran
    again    forked from `unused`, so at r3; never ran
    refused  forked at r1; a start that had no way
    dropped  forked at r1; its transfer called off
    waiting  forked at r1; a run of claude that its provider has not accepted yet
    """

    thread: dict[str, str]
    run: dict[str, str]
    transfer: dict[str, str]
    handoff: dict[str, str]


def make_sample_tree(service: Client) -> SampleTree:
    """Make it. Usage: run n of the names below takes 100·n tokens in and 10·n out."""
    made = SampleTree({}, {}, {}, {})
    maker = _Maker(service, made)
    root = made.thread["root"] = service.thread(title="A parser")["id"]
    maker.run(root, "r1", "codex", "Write a parser.")
    maker.run(root, "r2", "codex", "Add comments to the grammar.")
    maker.run(root, "r3", "claude", "Review it.")
    maker.fork("native", root, runId=made.run["r1"])
    maker.run(made.thread["native"], "f1", "codex", "Use a generator instead.")
    maker.fork("fallback", root, runId=made.run["r1"])
    maker.run(made.thread["fallback"], "f2", "codex", "Use tables instead.", refuse_native=True)
    maker.fork("told", root, runId=made.run["r2"])
    maker.run(made.thread["told"], "f3", "claude", "Write its tests.")
    maker.fork("unused", root)
    maker.fork("again", made.thread["unused"])
    maker.fork("refused", root, runId=made.run["r1"])
    maker.must_refuse(
        "UNSUPPORTED_TRANSFER",
        lambda: service.start(made.thread["refused"], "Hello?", "claude", strategy="NATIVE_FORK"),
    )
    maker.fork("dropped", root, runId=made.run["r1"])
    service.cancel(made.transfer["dropped"])
    maker.fork("waiting", root, runId=made.run["r1"])
    maker.keep("f4", service.start(made.thread["waiting"], "Hello?", "claude"))
    maker.must_refuse("RUN_NOT_ACTIVE", lambda: service.append(made.run["f2"], {"kind": "OTHER", "text": "late"}))
    return made


@dataclass
class _Maker:
    service: Client
    made: SampleTree

    def fork(self, name: str, source: str, **point: str) -> None:
        answer = self.service.fork(source, title=name, point=point)
        self.made.thread[name], self.made.transfer[name] = answer["thread"]["id"], answer["transfer"]["id"]

    def run(self, thread: str, name: str, provider: str, message: str, *, refuse_native: bool = False) -> None:
        started = self.service.start(thread, message, provider)
        run = started["run"]["id"]
        if refuse_native:
            started = self.service.started(run, failure={"code": "GONE", "message": "turn not found"})
        resumed = (started["plan"]["resume"] or {}).get("nativeThreadId")
        self.service.started(run, nativeThreadId=resumed or f"native-{run}", nativeTurnId=f"turn-{run}")
        self.keep(name, started)
        number = len(self.made.run)
        self.service.append(run, {"kind": "ASSISTANT_MESSAGE", "text": f"Done: {message}"})
        self.service.complete(run, usage={"inputTokens": 100 * number, "outputTokens": 10 * number})

    def keep(self, name: str, started: dict[str, Any]) -> None:
        self.made.run[name] = started["run"]["id"]
        for transfer in started["plan"]["transfers"]:
            self.made.transfer[name] = transfer["id"]
        for handoff in started["plan"]["handoffs"]:
            self.made.handoff[name] = handoff["id"]

    def must_refuse(self, code: str, call: Callable[[], object]) -> None:
        with pytest.raises(Refusal) as refused:
            call()
        assert refused.value.code == code

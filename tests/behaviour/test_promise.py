"""The promise: at every start, what the provider has natively and what it is told now are exactly the history.

Stand-ins of providers carry out every plan to the letter; every text holds a mark of its own, so that what a native
thread knows is read from the very texts it was sent. The expected history is kept here, by plain lists.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.support.client import Client, Refusal, key
from tests.support.natives import Natives

STEPS = 35
PROVIDERS = ("codex", "claude", "acp", "opencode", "codex-b")
GONE = {"code": "GONE", "message": "The provider does not have it any more."}


@dataclass
class Conversation:
    """A thread as it should be: the texts of its history with where each stands, and the points it has."""

    id: str
    history: list[tuple[str, str, int]] = field(default_factory=list[tuple[str, str, int]])
    """Run, item and mark of every item, inherited and own."""
    points: dict[int, bool] = field(default_factory=dict[int, bool])
    """How long the history is at each point, inherited ones too, and whether the point is a whole run."""

    @property
    def marks(self) -> list[int]:
        return [mark for _, _, mark in self.history]


@dataclass
class Story:
    """One tree of threads, grown at random."""

    service: Client
    dice: random.Random
    natives: Natives
    conversations: list[Conversation]
    numbers: Any = field(default_factory=itertools.count)
    outcomes: set[str] = field(default_factory=set[str])

    def say(self) -> tuple[str, int]:
        number = next(self.numbers)
        return f"words mark{number} more words", number

    def fork(self) -> None:
        source = self.dice.choice(self.conversations)
        if not source.points:
            with pytest.raises(Refusal, match="NO_STABLE_POINT"):
                self.service.fork(source.id)
            return
        length, whole = self.dice.choice(list(source.points.items()))
        if self.dice.random() < 0.4:
            # In the middle of a run that is a point itself: at any of its items.
            run = source.history[length - 1][0]
            length = self.dice.choice([at + 1 for at in range(length) if source.history[at][0] == run])
            whole = source.points.get(length, False)
        run, item, _ = source.history[length - 1]
        point = {"runId": run} if whole and self.dice.random() < 0.5 else {"turnItemId": item}
        made = self.service.fork(source.id, point=point)["thread"]["id"]
        kept = {at: full for at, full in source.points.items() if at <= length}
        self.conversations.append(Conversation(made, source.history[:length], kept | {length: whole}))

    def run(self) -> None:
        conversation, provider = self.dice.choice(self.conversations), self.dice.choice(PROVIDERS)
        message, said = self.say()
        foreseen = self.service.explain(conversation.id, provider)
        start = self.service.start(conversation.id, message, provider)
        run, plan = start["run"]["id"], start["plan"]
        assert (plan["outcome"], plan["reason"]) == (foreseen["outcome"], foreseen["reason"])
        while plan and self.dice.random() < 0.2:
            # The provider refuses; the start is planned anew, or ends if it was told all as text.
            plan = self.service.started(run, failure=GONE)["plan"]
        if plan is None:
            return
        self.outcomes.add(plan["outcome"])
        native, turn = self.natives.take(plan)
        assert self.natives.knows(native) == conversation.marks, plan["reason"]
        self.service.started(run, nativeThreadId=native, nativeTurnId=turn.id)
        self.work(conversation, run, turn.said, said)

    def work(self, conversation: Conversation, run: str, said: list[int], first: int) -> None:
        """What the provider says in its turn, and how that ends."""
        words = [self.say() for _ in range(self.dice.randrange(3))]
        if words:
            self.service.append(run, *({"kind": "ASSISTANT_MESSAGE", "text": text} for text, _ in words))
        said += [first, *(mark for _, mark in words)]
        items = [item["id"] for item in self.service.items(run)]
        conversation.history += [(run, item, mark) for item, mark in zip(items, said, strict=True)]
        if self.dice.random() < 0.75:
            self.service.complete(run)
        else:
            self.service.end(self.dice.choice(["failRun", "interruptRun"]), run)
            if self.dice.random() < 0.5:
                return
            self.service.checkpoint(conversation.id, "as it is", runId=run)
        conversation.points[len(conversation.history)] = True

    def check(self) -> None:
        """What people see is the same history."""
        for conversation in self.conversations:
            shown = [(item["runId"], item["id"]) for item in self.service.visible(conversation.id)]
            assert shown == [(run, item) for run, item, _ in conversation.history]


@pytest.mark.parametrize("seed", range(3))
def test_every_start_is_told_exactly_its_history(service: Client, seed: int) -> None:
    root = Conversation(service.thread(title=f"story {seed}")["id"])
    story = Story(service, random.Random(seed), Natives(key()), [root])

    for _ in range(STEPS):
        story.dice.choice([story.fork, story.run, story.run])()
    story.check()

    assert {"NONE", "NATIVE", "PORTABLE", "DELTA"} >= story.outcomes >= {"NATIVE", "PORTABLE"}

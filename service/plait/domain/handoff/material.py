"""All that could be shown, read and scrubbed: what `fitting` chooses from."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from plait.domain.handoff.blocks import Answered, Block, Part, arrange, is_large, superseded, to_block
from plait.domain.handoff.cleaning import one_line
from plait.domain.handoff.passages import without_gap
from plait.domain.handoff.reading import Change, Facts, Scrub, read_item
from plait.domain.handoff.records import HandoffRequest, LeftOut, RunContent, Told
from plait.domain.handoff.redaction import Redactor
from plait.domain.handoff.sections import RunEnd, Section, build_sections
from plait.domain.model import HandoffKind, ItemKind, RunStatus


class RunPart(NamedTuple):
    """What a run can show: a heading, and its blocks in order."""

    run_id: str
    label: str
    blocks: tuple[Block, ...]


class Material(NamedTuple):
    """Everything to choose from. `goal` is the first request; in the transcript a pointer stands for it.

    `runs` are those read, oldest first; `unread` more are missing after the first `unread_at` of them.
    """

    title: str
    notes: tuple[str, ...]
    goal: Block | None
    checkpoint: Block | None
    sections: tuple[Section, ...]
    runs: tuple[RunPart, ...]
    unread: int
    unread_at: int
    unread_range: tuple[str, str] | None
    never: tuple[LeftOut, ...]
    redactions: dict[str, int]

    def texts(self) -> Iterator[str]:
        """Every text that can get into the handoff."""
        yield self.title
        yield from self.notes
        for block in (self.goal, self.checkpoint, *(block for run in self.runs for block in run.blocks)):
            for part in block.parts if block else ():
                yield part.label
                yield part.text
        for run in self.runs:
            yield run.run_id
            yield run.label
        for section in self.sections:
            yield from (line.text for line in section.lines)
        yield from self.unread_range or ()


def gather(request: HandoffRequest) -> Material:
    """Read the request twice: once to learn its secrets, once to scrub them."""
    redactor = Redactor(request.budget_tokens)
    _read(request, redactor.learn)
    redactor.close()
    facts, ends, texts = _read(request, redactor.scrub)
    contents = _contents(request)
    arranged = arrange(facts)
    stale = superseded(arranged.entries)
    blocks: dict[str, list[Block]] = {content.run.id: [] for content in contents}
    large = 0
    for place, entry in enumerate(arranged.entries):
        block = to_block(entry, place in stale)
        if block:
            blocks.setdefault(block.run_id, []).append(block)
        large += _large_diffs(entry)
    # How a subagent's run ended is said by the result itself.
    for end in () if request.of is Told.RESULT else ends:
        if end.reason or end.status in (RunStatus.FAILED, RunStatus.INTERRUPTED):
            part = Part(f"the run ended {end.status.value}", end.reason)
            blocks[end.run_id].append(Block(end.run_id, end.run_id, None, (part,)))
    missing_first = request.first is None and request.total_runs > len(contents)
    goal = None if missing_first else _take_goal(request.kind, contents, blocks)
    never = arranged.never + Counter({"superseded outputs": len(stale), "large diffs": large})
    unread = max(0, request.total_runs - len(contents))
    return Material(
        title=texts[0],
        notes=tuple(texts[4:]),
        goal=goal,
        checkpoint=_checkpoint(request, texts),
        # A result is one block: a digest of it would say it twice.
        sections=() if request.of is Told.RESULT else build_sections(arranged.entries, ends),
        runs=tuple(
            RunPart(end.run_id, _run_label(number, end, request, bool(blocks[end.run_id])), tuple(blocks[end.run_id]))
            for number, end in enumerate(ends)
        ),
        unread=unread,
        unread_at=1 if request.first else 0,
        unread_range=request.omitted_range if unread else None,
        never=tuple(
            LeftOut(what=what, count=count, reason="never carried") for what, count in sorted(never.items()) if count
        ),
        redactions=dict(sorted(redactor.counts.items())),
    )


def _contents(request: HandoffRequest) -> tuple[RunContent, ...]:
    return ((request.first,) if request.first else ()) + request.newest


def _read(request: HandoffRequest, scrub: Scrub) -> tuple[list[Facts], list[RunEnd], list[str]]:
    facts: list[Facts] = []
    ends: list[RunEnd] = []
    for content in _contents(request):
        run = content.run
        for item in content.items:
            facts.append(read_item(item, scrub)._replace(run_id=run.id))
        provider, reason = scrub("provider", run.provider), scrub("reason", run.reason or "")
        ends.append(RunEnd(run.id, provider, run.end, reason))
    point = request.checkpoint
    own = (request.thread_title, point and point.label, point and point.summary, point and point.workspace_commit)
    texts = [scrub("own", text or "") for text in (*own, *request.notes)]
    return facts, ends, texts


def _run_label(number: int, end: RunEnd, request: HandoffRequest, has_blocks: bool) -> str:
    # Numbered within what is carried; the number of unread runs is part of it.
    read = len(_contents(request))
    unread = max(0, request.total_runs - read)
    shift = unread if number >= (1 if request.first else 0) else 0
    nothing = "" if has_blocks else ", nothing to show"
    branch = ", in another branch" if _contents(request)[number].elsewhere else ""
    provider = one_line(without_gap(end.provider), 60)
    return f"run {number + 1 + shift} of {read + unread} ({provider}, {end.status.value}{branch}{nothing})"


def _take_goal(kind: HandoffKind, contents: tuple[RunContent, ...], blocks: dict[str, list[Block]]) -> Block | None:
    """The first request, taken out of the transcript, where a pointer is left. That of a delta is no goal of all."""
    if kind is HandoffKind.DELTA_CONTEXT:
        heading, pointer = "the first request of this part", "user: the first request of this part, see above"
    else:
        heading, pointer = "goal: the first request", "user: the first request, see the goal"
    for content in contents[:1]:
        own = blocks[content.run.id]
        for number, block in enumerate(own):
            if block.kind is ItemKind.USER_MESSAGE:
                own[number] = block._replace(parts=(Part(pointer, ""),))
                return block._replace(parts=(Part(heading, block.parts[0].text),))
    return None


def _checkpoint(request: HandoffRequest, texts: list[str]) -> Block | None:
    point = request.checkpoint
    if point is None:
        return None
    label = f"latest checkpoint: {one_line(without_gap(texts[1]), 120) or point.id}"
    if texts[3]:
        label += f", workspace at {one_line(without_gap(texts[3]), 80)}"
    return Block(point.run_id, point.id, None, (Part(label, texts[2]),))


def _large_diffs(entry: Facts | Answered) -> int:
    if isinstance(entry, Answered) or not isinstance(entry.detail, tuple):
        return 0
    return sum(isinstance(row, Change) and is_large(row.diff) for row in entry.detail)

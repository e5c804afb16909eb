"""How reported items join those a run has: new ones at its end, streaming ones grown or finished."""

from collections.abc import Mapping, Sequence

from plait.domain.errors import ErrorCode, Refused
from plait.domain.model import ItemStatus, Record, TurnItem


class ItemChanges(Record):
    """`created` and `updated` items, and all reported ones in the order of the report."""

    created: tuple[TurnItem, ...]
    updated: tuple[TurnItem, ...]
    reported: tuple[TurnItem, ...]
    added_tokens: int


def join_items(run_id: str, item_count: int, known: Mapping[str, TurnItem], report: Sequence[TurnItem]) -> ItemChanges:
    """Gives new items their numbers; an item that was streaming takes what the report says, in its old place.

    Raises `Refused` with `ID_TAKEN` when an id belongs to another run, is finished already, or comes twice.
    """
    created: list[TurnItem] = []
    updated: list[TurnItem] = []
    reported: list[TurnItem] = []
    added = 0
    seen: set[str] = set()
    for item in report:
        if item.id in seen:
            raise Refused(ErrorCode.ID_TAKEN, f"Item {item.id} comes twice in one report. Send it once.")
        seen.add(item.id)
        before = known.get(item.id)
        if before is None:
            item_count += 1
            placed = item.model_copy(update={"position": item_count})
            created.append(placed)
        else:
            if before.run_id != run_id or before.status is not ItemStatus.STREAMING:
                raise Refused(
                    ErrorCode.ID_TAKEN,
                    f"Item {item.id} exists already and is not streaming in this run. Give another id, or none.",
                )
            placed = item.model_copy(update={"position": before.position, "created_at": before.created_at})
            updated.append(placed)
        added += placed.tokens - (before.tokens if before else 0)
        reported.append(placed)
    return ItemChanges(created=tuple(created), updated=tuple(updated), reported=tuple(reported), added_tokens=added)

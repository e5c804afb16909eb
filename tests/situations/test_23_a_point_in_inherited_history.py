"""23. A fork of a fork, at a turn inherited from the grandparent, was sent to the provider with an id of the copy. The
shown history looked right, the model's was wrong.

Here such a point is the run in the thread that owns it, with that thread's native thread and turn.
"""

from __future__ import annotations

from tests.support.client import Client
from tests.support.words import fork, native_of, run, words


def test_it_is_forked_from_the_owners_native_thread_at_the_owners_turn(service: Client) -> None:
    grandparent = service.thread()["id"]
    for word in ("g1", "g2"):
        run(service, grandparent, word)
    parent = fork(service, grandparent)
    run(service, parent, "p1")
    inherited = service.run_ids(grandparent)[0]

    child = service.fork(parent, point={"runId": inherited})

    point = child["transfer"]["sourcePoint"]
    assert (point["threadId"], point["runId"]) == (grandparent, inherited)
    native = service.start(child["thread"]["id"], "Go on")["plan"]["nativeFork"]
    assert (native["nativeThreadId"], native["lastTurnId"]) == (native_of(service, grandparent), "g1")
    assert words(service, child["thread"]["id"]) == ["g1"]


def test_no_id_of_plaits_own_is_ever_given_as_a_native_one(service: Client) -> None:
    thread = service.thread()["id"]
    run(service, thread, "g1")
    for _ in range(3):
        thread = fork(service, thread)

    native = service.start(thread, "Go on")["plan"]["nativeFork"]

    for value in (native["nativeThreadId"], native["lastTurnId"]):
        assert not value.startswith(("thr_", "run_", "itm_", "pvt_", "trf_"))

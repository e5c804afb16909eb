"""No secret crosses: whatever it is, wherever it stands, however it is cut. All secrets here are made up."""

import json
import random
import string
import threading
import time
from collections.abc import Callable

import pytest
from detect_secrets.settings import get_settings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plait.domain.handoff import BuiltHandoff, HandoffRequest, build_handoff
from plait.domain.model import ItemKind, RunStatus
from tests.domain.handoff_samples import Item, agent, call, checkpoint, command, content, request, result, user

# Put together from halves, so that no scanner of this repository takes them for real ones.
BODY = "\n".join(
    "".join(random.Random(n).choices(string.ascii_letters + string.digits + "+/", k=64)) for n in range(24)
)
PRIVATE_KEY = "-----BEGIN RSA PRIVATE" + f" KEY-----\n{BODY}\nq3Zk9w==\n-----END RSA PRIVATE" + " KEY-----"
JWT = (
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9."
    + "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkFkYSJ9.SflKxwRJSMeKKF2QT4fwpMeJf36POk6y"
)
SECRETS = {
    "aws key": "AKIA" + "Q7X2LM4RT8PZ3WYV",
    "github": "ghp_" + "a8Fk2Lm9Qw3Er7Ty5Ui1Op4As6Df0Gh2Jk8L",
    "github fine-grained": "github_pat_" + "11ABCDEFG0a8Fk2Lm9Qw3E_r7Ty5Ui1Op4As6Df0Gh2Jk8LZx",
    "slack": "xoxb-" + "123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx",
    "jwt": JWT,
    "openai": "sk-" + "aB3dE5fG7hI9jK1lM3nOT3BlbkFJpQ5rS7tU9vW1xY3zA5bC",
    "openai-like": "sk-proj-" + "Zx8Cv7Bn6Ml5Kj4Hg3Fd2Sa1Qw0Er9Ty8Ui",
    "anthropic-like": "sk-ant-api03-" + "Zx8Cv7Bn6Ml5Kj4Hg3Fd2Sa1Qw0Er9Ty8Ui-AA",
    "google": "AIza" + "SyD8x7Fk2Lm9Qw3Er7Ty5Ui1Op4As6Df0Gh",
    "stripe": "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "gitlab": "glpat-" + "x8Fk2Lm9Qw3Er7Ty5Ui1",
    "private key": PRIVATE_KEY,
}
IN_CONTEXT = {
    "quoted": ('password = "{}"', "correct7horse"),
    "json": ('{{"password": "{}"}}', "correct7horse"),
    "basic auth": ("https://deploy:{}@example.org/repo.git", "s3cr3tpw9"),
    "env": ("AWS_SECRET_ACCESS_KEY={}", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzz9KEYAA"),
    "export": ("export DB_PASSWORD={}", "tr0ub4dor3x"),
    "yaml": ("api_key: {}", "9f8a7b6c5d4e3f2a1b0c"),
    "flag": ("mysql --password={} -u root", "tr0ub4dor3x"),
    "flag apart": ("tool --api-key {} run", "tr0ub4dor3x"),
    "bearer": ("curl -H 'Authorization: Bearer {}' https://example.org", "aZ8xCv7Bn6Ml5Kj4Hg3Fd2Sa1"),
}
ALL = [(name, value, value) for name, value in SECRETS.items()] + [
    (name, form.format(value), value) for name, (form, value) in IN_CONTEXT.items()
]

PLACES: dict[str, Callable[[str], HandoffRequest]] = {
    "a message": lambda s: request(content(1, user(f"Use {s} please."))),
    "the first request and an answer": lambda s: request(content(1, user(s), agent(f"I see:\n{s}\nok"))),
    "the input of a call": lambda s: request(content(1, call("c", input={"arg": s}), result("c", "fine"))),
    "a key of the input": lambda s: request(content(1, call("c", input={s: 1, "list": [s]}), result("c", "fine"))),
    "the name of a tool": lambda s: request(content(1, call("c", name=s, input="x"), result("c", "fine"))),
    "the output of a call": lambda s: request(content(1, call("c", input="x"), result("c", f"line\n{s}\nline"))),
    "structured output": lambda s: request(content(1, call("c", input="x"), result("c", {"content": [{"text": s}]}))),
    "a command": lambda s: request(content(1, command(f"run {s}", 1, f"bad: {s}"))),
    "a file": lambda s: request(
        content(1, Item(ItemKind.FILE_CHANGE, s, {"path": f"conf/{s}", "change": s, "diff": f"+{s}\n"}))
    ),
    "a plan": lambda s: request(content(1, Item(ItemKind.PLAN, s, {"steps": [{"step": s, "status": s}]}))),
    "a subagent": lambda s: request(content(1, Item(ItemKind.SUBAGENT, s, {"threadId": s, "status": s, "result": s}))),
    "a compaction": lambda s: request(content(1, Item(ItemKind.COMPACTION, None, {"summary": s, "throughRunId": s}))),
    "decisions and questions": lambda s: request(content(1, agent("x", decisions=[s], openQuestions=[s]))),
    "an error": lambda s: request(content(1, Item(ItemKind.ERROR, s), status=RunStatus.FAILED, reason=s)),
    "broken data": lambda s: request(content(1, Item(ItemKind.TOOL_CALL, None, "{" + s), Item(ItemKind.OTHER, s))),
    "title and notes": lambda s: request(content(1, user("x")), thread_title=s, notes=(s,)),
    "a checkpoint": lambda s: request(content(1, user("x")), checkpoint=checkpoint(s, label=s)),
}


def check_gone(built: BuiltHandoff, value: str) -> None:
    payload = built.payload.model_dump_json()
    for part in {value, *value.split("\n"), *value.split(".")}:
        if len(part) > 6 and "KEY-----" not in part:
            assert part not in built.text
            assert part not in payload
            assert json.dumps(part)[1:-1] not in payload
    assert sum(built.payload.redactions.values()) > 0


# A flag is followed by its value; as a key of the input it is followed by a colon, and is no flag.
CASES = [
    (place, text, value)
    for place in PLACES
    for name, text, value in ALL
    if (place, name) != ("a key of the input", "flag apart")
]


@pytest.mark.parametrize(("place", "text", "value"), CASES)
def test_no_secret_survives_in_any_place(place: str, text: str, value: str) -> None:
    check_gone(build_handoff(PLACES[place](text)), value)


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(sorted(SECRETS)), st.lists(st.floats(0.1, 0.9), min_size=1, max_size=3), st.integers(200, 9000))
def test_secret_split_over_items_does_not_survive(name: str, where: list[float], budget: int) -> None:
    """Situation: a stream was written as several items, and the cuts went through a secret."""
    secret = SECRETS[name]
    cuts = sorted({max(8, min(len(secret) - 8, int(at * len(secret)))) for at in where})
    pieces = [secret[a:b] for a, b in zip([0, *cuts], [*cuts, len(secret)], strict=True)]
    built = build_handoff(request(content(1, user("go"), *map(agent, pieces)), budget=budget))
    kept = "".join(piece for piece in pieces if len(piece) >= 8 and piece in built.text)
    assert kept == ""


def test_secret_named_once_is_a_secret_everywhere() -> None:
    built = build_handoff(request(content(1, user('password = "correct7horse"'), agent("I typed correct7horse."))))
    assert "correct7horse" not in built.text


@pytest.mark.parametrize("budget", range(200, 3000, 100))
def test_cut_through_a_long_output_leaves_no_part_of_a_key(budget: int) -> None:
    output = ("log line 12345\n" * 300 + PRIVATE_KEY + "\n") * 30
    text = build_handoff(request(content(1, call("c", input="x"), result("c", output)), budget=budget)).text
    assert not [line for line in BODY.split("\n") if line in text or line[:30] in text or line[-30:] in text]


def test_half_of_a_private_key_is_one_too() -> None:
    half = len(PRIVATE_KEY) // 2
    for part in (PRIVATE_KEY[:half], PRIVATE_KEY[half:]):
        text = build_handoff(request(content(1, user("go"), agent(f"before it\n{part}\nafter it")))).text
        assert not [line for line in BODY.split("\n") if line in text]
        assert "before it" in text
        assert "after it" in text


NORMAL = [
    "run_0192f3c4-7b1a-7cc2-9d5e-1a2b3c4d5e6f",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    'integrity "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="',
    "src/components/task-list-with-a-very-long-kebab-case-name/index.test.tsx",
    "password = os.environ['DB_PASSWORD']",
    'password = "${DB_PASSWORD}"',
    "The password field is required: the user must enter one.",
    "def get_token(self, key: str) -> Token:",
    "max_tokens: 4096, tokens_before=1200",
    "key=lambda item: item.position",
    "http://127.0.0.1:8080/graphql and 8.8.8.8",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    '"next": "run_0192f3c4-7b1a-7cc2-9d5e-1a2b3c4d5e6f"',
]


@pytest.mark.parametrize("text", NORMAL)
def test_ids_hashes_and_code_of_a_normal_transcript_stay(text: str) -> None:
    built = build_handoff(request(content(1, user(text))))
    assert text in built.text
    assert built.payload.redactions == {}


def test_settings_of_the_detector_are_not_touched_from_any_thread() -> None:
    before = json.dumps(get_settings().json(), sort_keys=True)
    built: list[BuiltHandoff] = []
    asked = request(content(1, *(user(text) for _, text, _ in ALL)))
    threads = [threading.Thread(target=lambda: built.append(build_handoff(asked))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({entry.hash for entry in built}) == 1
    assert json.dumps(get_settings().json(), sort_keys=True) == before


def test_a_hundred_kilobytes_take_a_fraction_of_a_second() -> None:
    words = random.Random(1).choices(
        ["the", "function", "returns", "a token", "key:", "value", "src/app.py", "\n"], k=25_000
    )
    text = " ".join(words)[:100_000]
    parts = [text[at : at + 2_000] for at in range(0, len(text), 2_000)]
    build_handoff(request(content(1, user("warm"))))
    asked = request(content(1, *map(agent, parts)), budget=100_000)
    start = time.perf_counter()
    build_handoff(asked)
    assert time.perf_counter() - start < 0.5


@pytest.mark.parametrize("before", range(0, 44, 4))
@pytest.mark.parametrize("side", ["head", "tail"])
def test_secret_under_the_cut_of_a_text_too_long_to_scan_leaves_no_part(side: str, before: int) -> None:
    """Situation: a text far over the budget is cut before it is scanned, and the cut goes through a secret."""
    budget, secret = 1000, SECRETS["github"]
    keep = 3 * budget + 16_384
    start = keep - before if side == "head" else 300_000 - keep - before
    text = " " * start + secret + " " * (300_000 - start - len(secret))
    shown = build_handoff(request(content(1, user("go"), agent(text)), budget=budget)).text
    assert not [secret[at : at + 4] for at in range(len(secret) - 3) if secret[at : at + 4] in shown]

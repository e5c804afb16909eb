"""What counts as a secret: the patterns of detect-secrets, used directly, and a few shapes it does not know.

detect-secrets is used by its plugins' compiled patterns alone: its settings are global, its scan works line by line
and may verify over the network. None of that is touched here, so it is safe in any thread and always the same.

Left off, because ids, hashes and paths of a normal transcript look the same to them: both high-entropy plugins and
the public IP one. Left off, because a line of spaces makes them cubic: Cloudant, SoftLayer and both IBM plugins (what
they find, a random value assigned to a key or password, `ASSIGNED` finds too).
"""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple, cast

from detect_secrets.filters.heuristic import is_prefixed_with_dollar_sign, is_templated_secret
from detect_secrets.plugins.artifactory import ArtifactoryDetector
from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.base import BasePlugin, RegexBasedDetector
from detect_secrets.plugins.basic_auth import BasicAuthDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.jwt import JwtTokenDetector
from detect_secrets.plugins.keyword import QUOTES_REQUIRED_DENYLIST_REGEX_TO_GROUP, KeywordDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.openai import OpenAIDetector
from detect_secrets.plugins.private_key import PrivateKeyDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector


def _anything(_: str) -> bool:
    return True


class Rule(NamedTuple):
    """One pattern: its type, the group that is the secret, the letters (lower case) without which it can't match."""

    type: str
    pattern: re.Pattern[str]
    group: int = 0
    needles: tuple[str, ...] = ()
    check: Callable[[str], bool] = _anything


def _type_of(plugin: type[BasePlugin]) -> str:
    return cast(str, plugin.secret_type)


JWT, KEYWORD, PRIVATE_KEY, OPENAI = map(
    _type_of, (JwtTokenDetector, KeywordDetector, PrivateKeyDetector, OpenAIDetector)
)


def _rules(plugin: type[RegexBasedDetector], *needles: str, groups: tuple[int, ...] = ()) -> list[Rule]:
    patterns = list(cast("Iterable[re.Pattern[str]]", plugin.denylist))
    kind = _type_of(plugin)
    return [Rule(kind, p, g, needles) for p, g in zip(patterns, groups or (0,) * len(patterns), strict=True)]


def _mixed(value: str) -> bool:
    """Whether a value has letters and digits, and is no reference, template, id or path."""
    return (
        any(c.isdigit() for c in value)
        and any(c.isalpha() for c in value)
        and value[0] not in "$<{%/.@("
        and not re.search(r"[(\[{]|://|^\w+\.\w+\.\w|^(?:[a-z]{3}_)?[0-9a-f]{8}-[0-9a-f]{4}-", value)
    )


def _very_mixed(value: str) -> bool:
    return _mixed(value) and any(c.isupper() for c in value) and any(c.islower() for c in value)


_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
_ASSIGN = r"[A-Za-z0-9_-]{0,32}[\"'`\\]{0,2}\s{0,3}(?::=|=>|[=:])\s{0,3}[\"'`\\]{0,2}"

RULES: tuple[Rule, ...] = (
    *_rules(GitHubTokenDetector, "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    *_rules(AWSKeyDetector, "a3t", "abia", "acca", "akia", "asia", "aws", groups=(0, 1)),
    *_rules(SlackDetector, "xox", "hooks.slack.com"),
    *_rules(GitLabTokenDetector, "gl", "gr1348941"),
    *_rules(StripeDetector, "k_live_"),
    *_rules(SendGridDetector, "sg."),
    *_rules(SquareOAuthDetector, "sq0csp-"),
    *_rules(PypiTokenDetector, "pypi-"),
    *_rules(AzureStorageKeyDetector, "accountkey="),
    *_rules(MailchimpDetector, "-us"),
    *_rules(DiscordBotTokenDetector, "."),
    *_rules(TelegramBotTokenDetector, ":"),
    *_rules(TwilioKeyDetector, "ac", "sk"),
    *_rules(BasicAuthDetector, "://", groups=(1,)),
    *(rule._replace(check=_mixed) for rule in _rules(ArtifactoryDetector, "akc", "ap")),
    # Shapes that detect-secrets 1.5 does not know.
    Rule(OPENAI, re.compile(_START + r"sk-[A-Za-z0-9_-]{20,}"), 0, ("sk-",), _mixed),
    Rule("GitHub Token", re.compile(r"github_pat_[A-Za-z0-9_]{22,}"), 0, ("github_pat_",)),
    Rule("Slack Token", re.compile(r"xapp-\d-[A-Za-z0-9-]{20,}"), 0, ("xapp-",)),
    Rule("Google API Key", re.compile(r"AIza[A-Za-z0-9_-]{35}"), 0, ("aiza",)),
    Rule("NPM tokens", re.compile(_START + r"npm_[A-Za-z0-9]{30,}"), 0, ("npm_",)),
    Rule("Hugging Face Token", re.compile(_START + r"hf_[A-Za-z0-9]{30,}"), 0, ("hf_",)),
    Rule(
        "Authorization Header",
        re.compile(r"\b(?:bearer|basic|token)[ \t]{1,4}([A-Za-z0-9._~+/-]{16,}={0,2})", re.IGNORECASE),
        1,
        ("bearer", "basic", "token"),
        _very_mixed,
    ),
)
"""Patterns that run over a whole text in linear time."""

ASSIGNED: tuple[Rule, ...] = (
    Rule(
        KEYWORD,
        re.compile(
            r"(?:secret|passwd|passwort|password|passphrase|pwd|(?:api|access|auth|private|account|client|db)[_-]?key|"
            r"credential)" + _ASSIGN + r"([^\s\"'`,;]{6,})",
            re.IGNORECASE,
        ),
        1,
        check=_mixed,
    ),
    Rule(
        KEYWORD,
        re.compile(r"(?:token|key|pass)" + _ASSIGN + r"([^\s\"'`,;]{16,})", re.IGNORECASE),
        1,
        check=_very_mixed,
    ),
    Rule(
        KEYWORD,
        re.compile(
            r"--?[a-z-]{0,16}(?:password|passwd|token|secret|api-?key)(?:[ =]|\"?,\s?)[\"']?([^\s\"'$<{-][^\s\"']{3,})",
            re.IGNORECASE,
        ),
        1,
    ),
)
"""A value assigned to a name that speaks of a secret, without the quotes that detect-secrets wants."""

KEYWORD_NEEDLES = (
    "key", "pass", "pwd", "secret", "token", "credential", "contrase",
)  # fmt: skip
"""Lower-case letters, one of which every line that the keyword rules can match holds."""


def _bounded(pattern: re.Pattern[str]) -> re.Pattern[str]:
    """The pattern with names of at most 40 letters around its keyword: `\\w*` makes it cubic in a hostile line."""
    bounded = pattern.pattern.replace(r"\w*(", r"\w{0,40}(").replace(r")\w*", r")\w{0,40}+")
    return re.compile(bounded, pattern.flags)


KEYWORDS: tuple[tuple[re.Pattern[str], int], ...] = tuple(
    (_bounded(pattern), group) for pattern, group in QUOTES_REQUIRED_DENYLIST_REGEX_TO_GROUP.items()
)
"""The quoted assignments of detect-secrets' keyword plugin: pattern and group of the value. For one line at a time."""

OPENAI_PATTERN = next(iter(cast("Iterable[re.Pattern[str]]", OpenAIDetector.denylist)))
"""Quadratic in a long word, so it is tried only around its fixed middle, `OPENAI_MIDDLE`."""

OPENAI_MIDDLE = "T3BlbkFJ"


def is_placeholder(value: str) -> bool:
    """Whether a keyword's value stands for a secret and is none: a template, a reference, a mark of ours, stars."""
    return (
        not any(c.isalnum() for c in value)
        or is_prefixed_with_dollar_sign(value)
        or value.startswith("[redacted")
        or is_templated_secret(value)
    )

"""Counting tokens: the one measure that budgets and plans share."""

import warnings
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bpe_openai._bindings import PyTokenizer  # pyright: ignore[reportMissingTypeStubs]


@lru_cache(maxsize=1)
def _tokenizer() -> "PyTokenizer":
    # The binding itself, not the tiktoken-like wrapper around it: the wrapper refuses texts of a million characters,
    # builds a list of every token, and loads a second copy of the vocabulary.
    # Its import reads data files by a function that Python 3.11 and 3.12 call deprecated; nothing of ours can help it.
    warnings.filterwarnings("ignore", "open_binary is deprecated", DeprecationWarning, r"bpe_openai\.")
    from bpe_openai import _bindings  # pyright: ignore[reportMissingTypeStubs]

    return _bindings.tokenizer_for_encoding("o200k_base")


def count_tokens(text: str) -> int:
    """How many o200k_base tokens `text` has; special tokens in it count as the plain text they are.

    Linear in the text: a million letters, spaces or emoji take 5 to 60 ms; the worst seen, a million dashes or equals
    signs, 1.5 s (their tokens are long, and smaller pieces cost the same). The first call loads the
    vocabulary (0.6 s). Raises `UnicodeEncodeError` on a lone surrogate.
    """
    return _tokenizer().count(text)

"""The GraphiQL page: Strawberry's, with operations of this schema to begin with."""

import re
from functools import cache

from strawberry.http.ides import get_graphql_ide_html

EXAMPLES = """\
# Operations to begin with, in an order that works: press the play button and choose one. Put the ids that they answer
# with into the variables at the bottom, such as
#   {"thread": "thr_…", "run": "run_…", "native": "the provider's own id of its thread"}
# A mutation with a clientMutationId may be sent again: it does nothing twice.

query NewestThreads {
  threads(first: 20) {
    nodes { id title status depth relationshipToParent createdAt }
    pageInfo { hasNextPage endCursor }
    totalCount
  }
}

mutation NewThread {
  createThread(input: {title: "Try the parser"}) { thread { id } }
}

mutation FirstMessage($thread: ID!) {
  startRun(input: {threadId: $thread, provider: "codex", message: "Write a parser.", executor: CLIENT}) {
    run { id status }
    plan { outcome reason injected }
  }
}

mutation ProviderAccepted($run: ID!, $native: String!) {
  reportRunStarted(input: {runId: $run, nativeThreadId: $native, nativeTurnId: "1"}) {
    run { id status }
  }
}

mutation Answer($run: ID!) {
  appendTurnItems(input: {runId: $run, items: [{kind: ASSISTANT_MESSAGE, text: "Here it is."}]}) {
    items { position kind text }
  }
}

mutation Complete($run: ID!) {
  completeRun(input: {runId: $run}) { run { id status } checkpoint { id } }
}

mutation Fork($thread: ID!) {
  forkThread(input: {sourceThreadId: $thread, title: "Another way"}) {
    thread { id }
    transfer { id status sourcePoint { runId } }
  }
}

query Lineage($thread: ID!) {
  lineage(threadId: $thread) {
    nodes { depth thread { id title } }
    edges { kind sourceThreadId targetThreadId }
    truncated
  }
}

query History($thread: ID!) {
  thread(id: $thread) {
    title
    parent { id title }
    visibleItems(last: 20) { nodes { inherited kind text run { provider } } }
    transfers { type status resolution { strategy } failure { code message } }
  }
}

query WhyThisStart($thread: ID!) {
  explainStart(threadId: $thread, provider: "claude") {
    outcome
    reason
    candidates { outcome costTokens taken reason }
  }
}
"""

_PLACE = re.compile(r"(const EXAMPLE_QUERY = `).*?(`;)", re.DOTALL)


@cache
def graphiql_page() -> bytes:
    """The page as UTF-8. Its scripts come from a public CDN, so it needs the internet."""
    page = get_graphql_ide_html("graphiql")
    page = _PLACE.sub(
        lambda match: match[1] + EXAMPLES.replace("$", r"\$").replace("`", r"\`") + match[2], page, count=1
    )
    return page.replace("Strawberry GraphiQL", "Plait GraphiQL").encode()

// A native fork that was made for a run, but took no turn: it is kept behind the thread, for the next start.
// $threadId: STRING
// $providerThread: MAP
// $forkedFromId: STRING
// $forkedThroughRunId: STRING
// Columns: providerThread
MATCH (t:Thread {id: $threadId})
MATCH (origin:ProviderThread {id: $forkedFromId})
MATCH (tip:Run {id: $forkedThroughRunId})
CREATE (p:ProviderThread)
SET p = $providerThread, p.tipThreadId = tip.threadId, p.tipPosition = tip.position
CREATE (t)-[:BACKED_BY]->(p)
CREATE (p)-[:FORKED_FROM {throughRunId: tip.id}]->(origin)
RETURN p {.*} AS providerThread

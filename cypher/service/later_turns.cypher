// How many turns a provider thread has taken since the one of this run. The provider thread is locked by the write,
// so that no turn is accepted while the answer is acted on.
// $runId: STRING
// Columns: later
MATCH (r:Run {id: $runId})
MATCH (p:ProviderThread {id: r.providerThreadId})
SET p.turns = p.turns
RETURN p.turns - r.turnOrdinal AS later

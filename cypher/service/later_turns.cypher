// How many turns a provider thread has taken, or may take at any moment, since the one of this run, besides that of
// the run that is being accepted. The provider thread is locked by the write, so that no turn is accepted while the
// answer is acted on.
// $runId: STRING
// $acceptedRunId: STRING
// Columns: later
MATCH (r:Run {id: $runId})
MATCH (p:ProviderThread {id: r.providerThreadId})
SET p.threadId = r.threadId
WITH r, p
MATCH (owner:Thread {id: p.threadId})
OPTIONAL MATCH (pending:Run {id: owner.activeRunId, status: 'starting'})
WHERE pending.id <> $acceptedRunId
RETURN p.turns - r.turnOrdinal + CASE WHEN pending IS NULL THEN 0 ELSE 1 END AS later

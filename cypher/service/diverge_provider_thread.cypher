// A provider thread took the turn of a run that had been given up: it holds that turn now, which is in no history.
// It counts once, however often it is told. What came before it can still be forked.
// $providerThreadId: STRING
// $runId: STRING
// Columns: status
MATCH (r:Run {id: $runId})
MATCH (p:ProviderThread {id: $providerThreadId})
SET p.status = 'divergent'
WITH r, p, CASE WHEN r.takenLate THEN 0 ELSE 1 END AS turns
SET r.takenLate = true, p.turns = p.turns + turns, p.endedTurns = p.endedTurns + turns,
    p.divergedAt = CASE WHEN p.divergedAt <= r.position THEN p.divergedAt ELSE r.position END
RETURN p.status AS status

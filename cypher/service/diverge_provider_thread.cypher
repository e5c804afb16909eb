// The native thread of this provider thread holds a turn that is in no history: no later start resumes it.
// The turn counts as one that came later than those a fork may keep.
// $providerThreadId: STRING
// Columns: providerThread
MATCH (p:ProviderThread {id: $providerThreadId})
SET p.status = 'divergent', p.turns = p.turns + 1, p.endedTurns = p.endedTurns + 1
RETURN p {.*} AS providerThread

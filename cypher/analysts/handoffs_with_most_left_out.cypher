// Which handoffs of whole histories left out most runs, because of their budget? A run counts as told when the text
// shows anything of it.
// $limit: INTEGER
// Columns: handoffId, transferId, targetThreadId, provider, runsOfHistory, runsTold, runsLeftOut, tokens, budgetTokens
MATCH (f:ContextTransfer)-[:MATERIALIZED_AS]->(h:ContextHandoff {kind: 'portable_context'})
MATCH (last:Run {id: f.sourceRunId})
MATCH (owner:Thread {id: last.threadId})
MATCH path = (owner)<-[:FORK*0..]-(:Thread {id: owner.rootThreadId})
// How long the history of the point is: each thread it comes from adds its runs through the point.
WITH f, h, reduce(
  walk = {next: owner.id, runs: last.ordinal},
  n IN nodes(path) |
    CASE WHEN n.id = walk.next THEN {next: n.originThreadId, runs: walk.runs + n.originOrdinal} ELSE walk END
).runs AS runsOfHistory
WITH f, h, runsOfHistory, COUNT { (h)-[:CARRIES]->(:Run) } AS runsTold
WHERE runsOfHistory > runsTold
RETURN h.id AS handoffId, f.id AS transferId, h.targetThreadId AS targetThreadId, h.provider AS provider,
       runsOfHistory, runsTold, runsOfHistory - runsTold AS runsLeftOut, h.tokens AS tokens,
       h.budgetTokens AS budgetTokens
ORDER BY runsLeftOut DESC, handoffId
LIMIT $limit

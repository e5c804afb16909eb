// Which starts of a tree fell back to a text although the source ran on the same provider? `replanned` is the event of
// a native way that the provider refused, as JSON; without one the planner saw no native way from the start.
// $rootThreadId: STRING
// Columns: runId, threadId, provider, transferType, transferId, handoffId, handoffTokens, replanned
MATCH (root:Thread {id: $rootThreadId})-[:FORK]->*(t:Thread)<-[:INTO]-(f:ContextTransfer {status: 'consumed'})
WHERE f.strategy = 'portable_context' AND f.sourceProvider = f.targetProvider
MATCH (f)-[:CONSUMED_BY]->(r:Run)
MATCH (h:ContextHandoff {id: f.handoffId})
OPTIONAL MATCH (e:Event {rootThreadId: $rootThreadId, type: 'run.replanned', runId: r.id})
WITH t, f, r, h, e ORDER BY e.seq
RETURN r.id AS runId, t.id AS threadId, r.provider AS provider, f.type AS transferType, f.id AS transferId,
       h.id AS handoffId, h.tokens AS handoffTokens, head(collect(e.data)) AS replanned
ORDER BY handoffTokens DESC, runId

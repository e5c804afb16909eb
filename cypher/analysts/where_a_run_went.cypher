// Which handoffs carried a run, into which threads, and which run's provider was told by them?
// A handoff whose transfer no run consumed was built and never told: `consumedByRunId` is null.
// $runId: STRING
// Columns: handoffId, kind, tokens, transferId, transferType, targetThreadId, provider, consumedByRunId, consumedAt
MATCH (:Run {id: $runId})<-[:CARRIES]-(h:ContextHandoff)<-[:MATERIALIZED_AS]-(f:ContextTransfer)
OPTIONAL MATCH (f)-[:CONSUMED_BY]->(r:Run) WHERE f.handoffId = h.id
RETURN h.id AS handoffId, h.kind AS kind, h.tokens AS tokens, f.id AS transferId, f.type AS transferType,
       f.targetThreadId AS targetThreadId, h.provider AS provider, r.id AS consumedByRunId, f.consumedAt AS consumedAt
ORDER BY h.createdAt, handoffId

// Where did a conversation of a tree go on with another provider thread, what was told, and how much?
// `createdBy` is `user` where somebody changed the provider, `system` where Plait needed a new thread of the same one.
// $rootThreadId: STRING
// Columns: threadId, fromRunId, fromProvider, toRunId, toProvider, strategy, handoffTokens, createdBy, at
MATCH (root:Thread {id: $rootThreadId})-[:FORK]->*(t:Thread)-[:HAS_RUN]->(before:Run)-[edge:HANDOFF]->(after:Run)
MATCH (f:ContextTransfer {id: edge.transferId})
OPTIONAL MATCH (h:ContextHandoff {id: f.handoffId})
RETURN t.id AS threadId, before.id AS fromRunId, before.provider AS fromProvider, after.id AS toRunId,
       after.provider AS toProvider, f.strategy AS strategy, h.tokens AS handoffTokens, f.createdBy AS createdBy,
       edge.createdAt AS at
ORDER BY at, toRunId

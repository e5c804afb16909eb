// Which transfers of a tree has no run consumed, and did their target go on without them? One that was superseded by
// another is left out: the other stands for it.
// $rootThreadId: STRING
// Columns: transferId, type, status, sourceThreadId, targetThreadId, runsOfTarget, failureCode, failureMessage, createdAt
MATCH (root:Thread {id: $rootThreadId})-[:FORK]->*(target:Thread)<-[:INTO]-(f:ContextTransfer)
WHERE f.status <> 'consumed' AND NOT EXISTS { (f)-[:SUPERSEDED_BY]->(:ContextTransfer) }
RETURN f.id AS transferId, f.type AS type, f.status AS status, f.sourceThreadId AS sourceThreadId,
       target.id AS targetThreadId, target.runCount AS runsOfTarget,
       f.failureCode AS failureCode, f.failureMessage AS failureMessage, f.createdAt AS createdAt
ORDER BY createdAt, transferId

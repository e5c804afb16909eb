// What was forked from what in a tree, and at which run? The run may belong to an ancestor: a fork inherits history,
// and a fork of a fork that never ran begins at a point of the thread that owns it.
// $rootThreadId: STRING
// Columns: parentThreadId, threadId, title, depth, pointThreadId, pointRunId, pointPosition, createdBy, createdAt
MATCH (root:Thread {id: $rootThreadId})-[:FORK]->*(parent:Thread)-[edge:FORK]->(fork:Thread)
RETURN parent.id AS parentThreadId, fork.id AS threadId, fork.title AS title, fork.depth AS depth,
       fork.originThreadId AS pointThreadId, fork.originRunId AS pointRunId, fork.originPosition AS pointPosition,
       fork.createdBy AS createdBy, edge.createdAt AS createdAt
ORDER BY depth, createdAt, threadId

// Where does each thread of a tree stand: its last accepted run, and the run at which a fork taken now would begin?
// A thread without a completed run of its own begins where it was forked from. The last used come first.
// $rootThreadId: STRING
// Columns: threadId, title, depth, provider, headRunId, headStatus, headStartedAt, stableRunId, activeRunId
MATCH (root:Thread {id: $rootThreadId})-[:FORK]->*(t:Thread)
OPTIONAL MATCH (last:Run {id: t.headRunId})
RETURN t.id AS threadId, t.title AS title, t.depth AS depth, t.provider AS provider, last.id AS headRunId,
       last.status AS headStatus, last.startedAt AS headStartedAt,
       coalesce(t.stableRunId, t.originRunId) AS stableRunId, t.activeRunId AS activeRunId
ORDER BY coalesce(headStartedAt, t.createdAt) DESC, threadId

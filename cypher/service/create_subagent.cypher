// A subagent: a thread below the one whose run spawned it, and one more of that run. Its transfer is another statement.
// $parentRunId: STRING
// $thread: MAP
// $transferId: STRING
// Columns: thread
MATCH (spawner:Run {id: $parentRunId})
MATCH (parent:Thread {id: spawner.threadId})
SET spawner.subagentCount = coalesce(spawner.subagentCount, 0) + 1
CREATE (t:Thread)
SET t = $thread
CREATE (parent)-[:SUBAGENT {transferId: $transferId, createdAt: t.createdAt}]->(t)
RETURN t {.*} AS thread

// A run that is about to start, with its message as first item. It takes the thread's one place for an active run.
// $threadId: STRING
// $run: MAP
// $item: MAP
// Columns: run
MATCH (t:Thread {id: $threadId})
SET t.activeRunId = $run.id, t.runCount = $run.position
CREATE (r:Run)
SET r = $run
CREATE (t)-[:HAS_RUN]->(r)
CREATE (i:TurnItem)
SET i = $item
CREATE (r)-[:HAS_ITEM]->(i)
RETURN r {.*} AS run

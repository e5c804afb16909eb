// A run that is about to start, with its message as first item. It takes the thread's one place for an active run.
// Leases go by the clock of the database, here and where they are extended: there is one, and services are many.
// $threadId: STRING
// $run: MAP
// $item: MAP
// $leaseMilliseconds: INTEGER
// Columns: run
MATCH (t:Thread {id: $threadId})
SET t.activeRunId = $run.id, t.runCount = $run.position
CREATE (r:Run)
SET r = $run, r.leaseUntil = datetime() + duration({milliseconds: $leaseMilliseconds})
CREATE (t)-[:HAS_RUN]->(r)
CREATE (i:TurnItem)
SET i = $item
CREATE (r)-[:HAS_ITEM]->(i)
RETURN r {.*} AS run

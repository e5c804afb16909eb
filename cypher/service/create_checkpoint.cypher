// An explicit checkpoint on a run that ended: from now on the run may be a source point.
// $threadId: STRING
// $runId: STRING
// $checkpoint: MAP
// Columns: checkpoint
MATCH (t:Thread {id: $threadId})
MATCH (r:Run {id: $runId})
CREATE (c:Checkpoint)
SET t.checkpointCount = t.checkpointCount + 1
SET c = $checkpoint, c.number = t.checkpointCount, r.stable = true
CREATE (t)-[:HAS_CHECKPOINT]->(c)
CREATE (c)-[:OF_RUN]->(r)
RETURN c {.*} AS checkpoint

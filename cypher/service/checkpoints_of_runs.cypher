// The checkpoints on each of these runs, newest first.
// $runIds: LIST<STRING>
// Columns: records
UNWIND $runIds AS runId
MATCH (r:Run {id: runId})<-[:OF_RUN]-(c:Checkpoint)
WITH c ORDER BY c.number DESC
RETURN collect(c {.*}) AS records

// All items of these runs, each run's in order.
// $runIds: LIST<STRING>
// Columns: runs
UNWIND $runIds AS runId
CALL (runId) {
  MATCH (i:TurnItem {runId: runId})
  WHERE i.position > 0
  WITH i ORDER BY i.runId, i.position
  RETURN collect(i {.*}) AS items
}
RETURN collect({runId: runId, items: items}) AS runs

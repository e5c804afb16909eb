// The items of a run in their order, one page.
// $runId: STRING
// $after: INTEGER
// $limit: INTEGER
// Columns: total, records
MATCH (r:Run {id: $runId})
CALL (r) {
  MATCH (i:TurnItem {runId: r.id})
  WHERE i.position > $after
  WITH i ORDER BY i.runId, i.position LIMIT $limit
  RETURN collect(i {.*}) AS records
}
RETURN r.itemCount AS total, records

// One run as the service wrote it, with all that it wrote around it.
// $runId: STRING
// $keys: LIST<STRING>
// Columns: run, items, checkpoint, events, receipts
MATCH (r:Run {id: $runId})
MATCH (c:Checkpoint {runId: r.id, kind: 'automatic'})
CALL (r) {
  MATCH (i:TurnItem {runId: r.id})
  WITH i ORDER BY i.position
  RETURN collect(i {.*}) AS items
}
CALL (r) {
  MATCH (e:Event {rootThreadId: r.threadId, runId: r.id})
  WITH e ORDER BY e.seq
  RETURN collect(e {.*}) AS events
}
CALL () {
  MATCH (n:CommandReceipt)
  WHERE n.key IN $keys
  WITH n ORDER BY n.createdAt
  RETURN collect(n {.*}) AS receipts
}
RETURN r {.*} AS run, items, c {.*} AS checkpoint, events, receipts

// The checkpoints of a thread, newest first.
// $threadId: STRING
// $limit: INTEGER
// Columns: records
MATCH (t:Thread {id: $threadId})
CALL (t) {
  MATCH (c:Checkpoint {threadId: t.id})
  WHERE c.number > 0
  WITH c ORDER BY c.threadId DESC, c.number DESC LIMIT $limit
  RETURN collect(c {.*}) AS records
}
RETURN records

// The runs of a thread in their order, one page; those that never reached a provider as well.
// $threadId: STRING
// $after: INTEGER
// $limit: INTEGER
// Columns: total, records
MATCH (t:Thread {id: $threadId})
CALL (t) {
  MATCH (r:Run {threadId: t.id})
  WHERE r.position > $after
  WITH r ORDER BY r.threadId, r.position LIMIT $limit
  RETURN collect(r {.*}) AS records
}
RETURN t.runCount AS total, records

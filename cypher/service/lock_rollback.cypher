// A thread that goes back, and the threads that wait for something of it: all locked for this transaction in one order
// with other commands, the root of their tree last.
// $threadId: STRING
// $now: ZONED DATETIME
// Columns: thread
MATCH (t:Thread {id: $threadId})
CALL (t) {
  CALL (t) {
    RETURN t AS each
    UNION
    MATCH (f:ContextTransfer)
    USING INDEX f:ContextTransfer(sourceThreadId, type, status)
    WHERE f.sourceThreadId = t.id AND f.type IN ['merge_back', 'subagent_result']
      AND f.status IN ['pending', 'resolved_native', 'resolved_portable']
    MATCH (each:Thread {id: f.targetThreadId})
    RETURN each
  }
  WITH DISTINCT each
  ORDER BY each.id = each.rootThreadId, each.id
  SET each.updatedAt = $now
  RETURN count(each) AS locked
}
RETURN t {.*} AS thread

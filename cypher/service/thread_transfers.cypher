// The transfers a thread takes part in, as target or as source, newest first.
// $threadId: STRING
// $status: STRING
// $type: STRING
// $limit: INTEGER
// Columns: records
MATCH (t:Thread {id: $threadId})
CALL (t) {
  CALL (t) {
    MATCH (f:ContextTransfer)
    USING INDEX f:ContextTransfer(targetThreadId, seq)
    WHERE f.targetThreadId = t.id AND f.seq > 0
      AND ($status IS NULL OR f.status = $status) AND ($type IS NULL OR f.type = $type)
    RETURN f ORDER BY f.targetThreadId DESC, f.seq DESC LIMIT $limit
    UNION
    MATCH (f:ContextTransfer)
    USING INDEX f:ContextTransfer(sourceThreadId, seq)
    WHERE f.sourceThreadId = t.id AND f.seq > 0
      AND ($status IS NULL OR f.status = $status) AND ($type IS NULL OR f.type = $type)
    RETURN f ORDER BY f.sourceThreadId DESC, f.seq DESC LIMIT $limit
  }
  WITH f ORDER BY f.seq DESC LIMIT $limit
  RETURN collect(f {.*}) AS records
}
RETURN records

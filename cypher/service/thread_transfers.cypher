// The transfers a thread takes part in, as source or as target, newest first.
// $threadId: STRING
// $status: STRING
// $type: STRING
// $limit: INTEGER
// Columns: records
MATCH (t:Thread {id: $threadId})
CALL (t) {
  CALL (t) {
    MATCH (t)<-[:INTO]-(f:ContextTransfer)
    RETURN f
    UNION
    MATCH (t)-[:FORK]->(:Thread)<-[:INTO]-(f:ContextTransfer {type: 'fork'})
    WHERE f.sourceThreadId = t.id
    RETURN f
  }
  WITH f
  WHERE ($status IS NULL OR f.status = $status) AND ($type IS NULL OR f.type = $type)
  WITH f ORDER BY f.createdAt DESC, f.id DESC LIMIT $limit
  RETURN collect(f {.*}) AS records
}
RETURN records

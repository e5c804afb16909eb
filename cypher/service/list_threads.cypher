// Threads, newest first, one page.
// $status: STRING
// $rootThreadId: STRING
// $parentThreadId: STRING
// $provider: STRING
// $beforeTime: ZONED DATETIME
// $beforeId: STRING
// $limit: INTEGER
// Columns: records
CALL () {
  MATCH (t:Thread)
  WHERE t.createdAt <= $beforeTime AND (t.createdAt < $beforeTime OR t.id < $beforeId)
    AND ($status IS NULL OR t.status = $status)
    AND ($rootThreadId IS NULL OR t.rootThreadId = $rootThreadId)
    AND ($parentThreadId IS NULL OR t.parentThreadId = $parentThreadId)
    AND ($provider IS NULL OR t.provider = $provider)
  WITH t ORDER BY t.createdAt DESC, t.id DESC LIMIT $limit
  RETURN collect(t {.*}) AS records
}
RETURN records

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
  USING INDEX t:Thread(createdAt, id)
  WHERE t.createdAt <= $beforeTime AND t.id > ''
    AND CASE WHEN t.createdAt = $beforeTime THEN t.id < $beforeId ELSE true END
    AND ($status IS NULL OR t.status = $status)
    AND ($rootThreadId IS NULL OR t.rootThreadId = $rootThreadId)
    AND ($parentThreadId IS NULL OR t.parentThreadId = $parentThreadId)
    AND ($provider IS NULL OR t.provider = $provider)
  WITH t ORDER BY t.createdAt DESC, t.id DESC LIMIT $limit
  RETURN collect(t {.*}) AS records
}
RETURN records

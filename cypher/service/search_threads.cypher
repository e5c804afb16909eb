// Threads whose title has these words, newest first, one page.
// $query: STRING
// $status: STRING
// $rootThreadId: STRING
// $parentThreadId: STRING
// $provider: STRING
// $beforeTime: ZONED DATETIME
// $beforeId: STRING
// $limit: INTEGER
// Columns: records, total
CALL () {
  CALL db.index.fulltext.queryNodes('thread_title', $query, {limit: 10000}) YIELD node AS t
  WITH t
  WHERE ($status IS NULL OR t.status = $status)
    AND ($rootThreadId IS NULL OR t.rootThreadId = $rootThreadId)
    AND ($parentThreadId IS NULL OR t.parentThreadId = $parentThreadId)
    AND ($provider IS NULL OR t.provider = $provider)
  RETURN collect(t) AS found
}
CALL (found) {
  UNWIND found AS t
  WITH t WHERE t.createdAt <= $beforeTime AND (t.createdAt < $beforeTime OR t.id < $beforeId)
  WITH t ORDER BY t.createdAt DESC, t.id DESC LIMIT $limit
  RETURN collect(t {.*}) AS records
}
RETURN records, size(found) AS total

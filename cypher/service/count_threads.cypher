// How many threads there are that a filter lets through; a filtered count stops at its limit.
// $status: STRING
// $rootThreadId: STRING
// $parentThreadId: STRING
// $provider: STRING
// $limit: INTEGER
// Columns: total
CALL () {
  MATCH (t:Thread)
  WHERE ($status IS NULL OR t.status = $status)
    AND ($rootThreadId IS NULL OR t.rootThreadId = $rootThreadId)
    AND ($parentThreadId IS NULL OR t.parentThreadId = $parentThreadId)
    AND ($provider IS NULL OR t.provider = $provider)
  WITH t LIMIT $limit
  RETURN count(t) AS total
}
RETURN total

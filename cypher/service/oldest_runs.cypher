// The oldest runs of a part of a history. Segments come oldest first.
// $segments: LIST<MAP>
// $limit: INTEGER
// Columns: runs
UNWIND $segments AS segment
CALL (segment) {
  MATCH (r:Run {threadId: segment.threadId})
  WHERE r.position > segment.after AND r.position <= segment.through AND r.startedAt IS NOT NULL
  RETURN r ORDER BY r.threadId, r.position LIMIT $limit
}
WITH r LIMIT $limit
RETURN collect(r {.*, plan: null}) AS runs

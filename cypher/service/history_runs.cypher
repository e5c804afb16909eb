// The newest runs of a part of a history, newest first, without their items: which of them fit a budget is decided
// on their token counts. A run that never reached its provider is in no history. Ordered by the whole key of the
// index, so that a page is read off it and nothing more. Segments come newest first.
// $segments: LIST<MAP>
// $limit: INTEGER
// Columns: runs
UNWIND $segments AS segment
CALL (segment) {
  MATCH (r:Run {threadId: segment.threadId})
  WHERE r.position > segment.after AND r.position <= segment.through AND r.startedAt IS NOT NULL
  RETURN r ORDER BY r.threadId DESC, r.position DESC LIMIT $limit
}
WITH r LIMIT $limit
RETURN collect(r {.*, plan: null}) AS runs

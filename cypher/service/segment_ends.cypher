// The first and the last accepted run of parts of histories, by the number of each part.
// $segments: LIST<MAP>
// Columns: ends
UNWIND $segments AS segment
CALL (segment) {
  MATCH (r:Run {threadId: segment.threadId})
  WHERE r.position > segment.after AND r.position <= segment.through AND r.startedAt IS NOT NULL
  RETURN r AS first ORDER BY r.threadId, r.position LIMIT 1
}
CALL (segment) {
  MATCH (r:Run {threadId: segment.threadId})
  WHERE r.position > segment.after AND r.position <= segment.through AND r.startedAt IS NOT NULL
  RETURN r AS last ORDER BY r.threadId DESC, r.position DESC LIMIT 1
}
RETURN collect({number: segment.number, first: first {.*, plan: null}, last: last {.*, plan: null}}) AS ends

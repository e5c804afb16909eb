// The latest explicit checkpoint with a summary within a part of a history. Segments come newest first.
// $segments: LIST<MAP>
// Columns: checkpoint
UNWIND $segments AS segment
CALL (segment) {
  MATCH (c:Checkpoint {threadId: segment.threadId, kind: 'explicit'})
  WHERE c.position > segment.after AND c.position <= segment.through AND c.summary IS NOT NULL
  RETURN c ORDER BY c.threadId DESC, c.kind DESC, c.position DESC, c.number DESC LIMIT 1
}
WITH c LIMIT 1
RETURN c {.*} AS checkpoint

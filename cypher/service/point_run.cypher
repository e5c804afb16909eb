// The run a source point names, by the id of the run itself, of a checkpoint on it, or of one of its items.
// $id: STRING
// Columns: run, checkpoint, item
CALL () {
  MATCH (r:Run {id: $id})
  RETURN r, null AS c, null AS i
  UNION ALL
  MATCH (c:Checkpoint {id: $id})
  MATCH (r:Run {id: c.runId})
  RETURN r, c, null AS i
  UNION ALL
  MATCH (i:TurnItem {id: $id})
  MATCH (r:Run {id: i.runId})
  RETURN r, null AS c, i
}
RETURN r {.*} AS run, c {.*} AS checkpoint, i {.*} AS item

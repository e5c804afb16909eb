// The last finished answer of a run. Null where the agent said nothing.
// $runId: STRING
// Columns: text
OPTIONAL CALL () {
  MATCH (i:TurnItem)
  USING INDEX i:TurnItem(runId, position)
  WHERE i.runId = $runId AND i.position > 0
  WITH i ORDER BY i.runId DESC, i.position DESC
  WHERE i.kind = 'assistant_message' AND i.status = 'finished' AND i.text IS NOT NULL
  RETURN i LIMIT 1
}
RETURN i.text AS text

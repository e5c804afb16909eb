// Every node that hangs together with a thread, its events and its receipts, and the relationships between them: what
// kinds there are, how many of each, with which properties of which types.
// $threadId: STRING
// $keys: LIST<STRING>
// Columns: nodes, relationships
MATCH (t:Thread {id: $threadId})
CALL (t) {
  MATCH (t)-[*0..]-(n)
  RETURN DISTINCT n
  UNION
  MATCH (n:Event {rootThreadId: t.id})
  RETURN n
  UNION
  MATCH (n:CommandReceipt)
  WHERE n.key IN $keys
  RETURN n
}
WITH collect(n) AS found
CALL (found) {
  UNWIND found AS n
  RETURN collect([labels(n), [k IN keys(n) | k + ': ' + valueType(n[k])]]) AS nodes
}
CALL (found) {
  UNWIND found AS n
  MATCH (n)-[e]->(m)
  RETURN collect([labels(n), type(e), labels(m), [k IN keys(e) | k + ': ' + valueType(e[k])]]) AS relationships
}
RETURN nodes, relationships

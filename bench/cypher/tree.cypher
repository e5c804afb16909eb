// All that hangs together with a thread, with its events and its receipts: the nodes, and the relationships between them.
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
  RETURN collect({at: elementId(n), labels: labels(n), properties: properties(n)}) AS nodes
}
CALL (found) {
  UNWIND found AS n
  MATCH (n)-[e]->(m)
  RETURN collect({
    at: elementId(e), kind: type(e), source: elementId(n), target: elementId(m), properties: properties(e)
  }) AS relationships
}
RETURN nodes, relationships

// A native child as it is known now, under the earliest run it was seen in; joined with the child that started it and
// with those that it started, whichever of them was heard of first.
// $node: MAP
// Columns: node
MERGE (n:ExecutionNode {provider: $node.provider, nativeId: $node.nativeId})
SET n = $node
WITH n
MATCH (r:Run {id: n.runId})
CALL (n, r) {
  MATCH (n)<-[seen:HAS_NODE]-(other:Run)
  WHERE other <> r
  DELETE seen
}
MERGE (r)-[:HAS_NODE]->(n)
WITH n
CALL (n) {
  MATCH (n)-[started:STARTED_BY]->(parent:ExecutionNode)
  WHERE parent.nativeId <> n.nativeParentId
  DELETE started
}
CALL (n) {
  MATCH (parent:ExecutionNode {provider: n.provider, nativeId: n.nativeParentId})
  MERGE (n)-[:STARTED_BY]->(parent)
}
CALL (n) {
  MATCH (child:ExecutionNode {provider: n.provider, nativeParentId: n.nativeId})
  MERGE (child)-[:STARTED_BY]->(n)
}
RETURN n {.*} AS node

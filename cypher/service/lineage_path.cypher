// The shortest ways between two threads along lineage edges, whichever way these point: `layers` are the threads 0, 1,
// 2, … edges from the first, and `edges` those that lead on from each layer. Both are null where there is no way. It is
// the way through the tree, by the common ancestor, where that is as short as any; else every shortest way.
// $fromId: STRING
// $toId: STRING
// Columns: source, target, layers, edges
OPTIONAL MATCH (a:Thread {id: $fromId})
OPTIONAL MATCH (b:Thread {id: $toId})
OPTIONAL CALL (a, b) {
  // Edges join threads of one tree: within it there always is a way, beyond it there is none to look for.
  WITH a, b WHERE a.rootThreadId = b.rootThreadId
  CALL (a) {
    MATCH (a)<-[:FORK|SUBAGENT*0..]-(up:Thread)
    WITH DISTINCT up ORDER BY up.depth
    RETURN collect(up) AS ups
  }
  CALL (b) {
    MATCH (b)<-[:FORK|SUBAGENT*0..]-(up:Thread)
    WITH DISTINCT up ORDER BY up.depth
    RETURN collect(up) AS downs
  }
  WITH a, b, ups, downs, size([i IN range(0, size(ups) - 1) WHERE i < size(downs) AND ups[i] = downs[i]]) AS shared
  WITH a, b, CASE shared WHEN 0 THEN [] ELSE reverse(ups[shared - 1..]) + downs[shared..] END AS tree
  // Searched from both ends at once: threads are not looked at whose distances add up to more.
  MATCH way = SHORTEST 1 (a)-[:FORK|SUBAGENT|MERGE_BACK|SUBAGENT_RESULT]-*(b)
  WITH a, b, tree, length(way) AS least
  CALL (a, b, tree, least) {
    WITH tree, least WHERE least = size(tree) - 1
    RETURN [n IN tree | [n]] AS layers
    UNION ALL
    // A merge cuts the way short. A thread is on a shortest way when its distances from both ends add up to it.
    WITH a, b, tree, least WHERE least <> size(tree) - 1
    CALL (a, b) {
      MATCH p = (a)-[:FORK|SUBAGENT|MERGE_BACK|SUBAGENT_RESULT*0..]-(n:Thread)
      WITH n, min(length(p)) AS distance
      RETURN n, distance, 0 AS rest
      UNION ALL
      MATCH p = (b)-[:FORK|SUBAGENT|MERGE_BACK|SUBAGENT_RESULT*0..]-(n:Thread)
      WITH n, min(length(p)) AS rest
      RETURN n, 0 AS distance, rest
    }
    WITH least, n, sum(distance) AS distance, sum(rest) AS rest
    WITH n, distance WHERE distance + rest = least
    WITH distance, collect(n) AS layer ORDER BY distance
    WITH collect(layer) AS layers WHERE size(layers) > 0
    RETURN layers
  }
  CALL (layers) {
    UNWIND range(0, size(layers) - 2) AS i
    UNWIND layers[i] AS one
    UNWIND layers[i + 1] AS next
    MATCH (one)-[e:FORK|SUBAGENT|MERGE_BACK|SUBAGENT_RESULT]-(next)
    RETURN collect({
      id: e.transferId, kind: type(e), sourceThreadId: startNode(e).id, targetThreadId: endNode(e).id,
      transferId: e.transferId, createdAt: e.createdAt
    }) AS edges
  }
  RETURN [layer IN layers | [n IN layer | n {.*}]] AS layers, edges
}
RETURN a.id AS source, b.id AS target, layers, edges

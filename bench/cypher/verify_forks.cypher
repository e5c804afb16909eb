// What the graph holds of the forks of these threads, all of one tree each, to be held against what was answered.
// $sourceIds: LIST<STRING>
// Columns: forks, transfers, events, gaps
UNWIND $sourceIds AS id
MATCH (source:Thread {id: id})
CALL (source) {
  MATCH (source)-[edge:FORK]->(t:Thread)
  OPTIONAL MATCH (t)<-[:INTO]-(f:ContextTransfer {id: edge.transferId})
  RETURN collect(t.id) AS forks, count(DISTINCT f) AS transfers
}
CALL (source) {
  MATCH (e:Event {rootThreadId: source.rootThreadId})
  RETURN count(CASE WHEN e.type = 'thread.forked' THEN 1 END) AS events,
         count(e) = source.eventCount AND count(e) = max(e.seq) AND min(e.seq) = 1 AS whole
}
RETURN reduce(all = [], part IN collect(forks) | all + part) AS forks, sum(transfers) AS transfers,
       sum(events) AS events, count(CASE WHEN NOT whole THEN 1 END) AS gaps

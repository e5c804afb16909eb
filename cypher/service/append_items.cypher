// Items of an active run: new ones at its end, and streaming ones that grew or finished.
// $threadId: STRING
// $runId: STRING
// $created: LIST<MAP>
// $updated: LIST<MAP>
// $addedTokens: INTEGER
// $leaseMilliseconds: INTEGER
// Columns: run
MATCH (t:Thread {id: $threadId})
MATCH (r:Run {id: $runId})
SET r.itemCount = r.itemCount + size($created), r.tokens = r.tokens + $addedTokens,
    r.leaseUntil = datetime() + duration({milliseconds: $leaseMilliseconds}),
    t.headTokens = r.tokensBefore + r.tokens, t.acceptedTokens = r.tokensBefore + r.tokens
WITH r
CALL (r) {
  UNWIND $created AS properties
  CREATE (i:TurnItem)
  SET i = properties
  CREATE (r)-[:HAS_ITEM]->(i)
}
CALL () {
  UNWIND $updated AS properties
  MATCH (i:TurnItem {id: properties.id})
  SET i = properties
}
RETURN r {.*} AS run

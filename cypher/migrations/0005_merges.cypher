// A merge-back has one edge, as a fork has.
CREATE CONSTRAINT merge_back_transfer IF NOT EXISTS FOR ()-[e:MERGE_BACK]-() REQUIRE e.transferId IS UNIQUE;
// What waits elsewhere for something of a thread: asked when that thread goes back.
CREATE INDEX transfer_from IF NOT EXISTS FOR (n:ContextTransfer) ON (n.sourceThreadId, n.type, n.status);
// A run may consume several transfers with one message: `transferIds` takes the place of `transferId`.
MATCH (r:Run) WHERE r.transferId IS NOT NULL
CALL (r) { SET r.transferIds = [r.transferId] REMOVE r.transferId } IN TRANSACTIONS OF 10000 ROWS;

// The orders that reads page in. Each is an immutable key given in the write transaction.
CREATE CONSTRAINT run_position IF NOT EXISTS FOR (n:Run) REQUIRE (n.threadId, n.position) IS UNIQUE;
CREATE CONSTRAINT turn_item_position IF NOT EXISTS FOR (n:TurnItem) REQUIRE (n.runId, n.position) IS UNIQUE;
CREATE CONSTRAINT event_seq IF NOT EXISTS FOR (n:Event) REQUIRE (n.rootThreadId, n.seq) IS UNIQUE;
// "The last run of this provider at or before this point": where a native fork may start.
CREATE INDEX run_provider IF NOT EXISTS FOR (n:Run) ON (n.threadId, n.provider, n.position);
CREATE INDEX checkpoint_position IF NOT EXISTS FOR (n:Checkpoint) ON (n.threadId, n.kind, n.position);
CREATE INDEX thread_created IF NOT EXISTS FOR (n:Thread) ON (n.createdAt, n.id);
CREATE FULLTEXT INDEX thread_title IF NOT EXISTS FOR (n:Thread) ON EACH [n.title];

// The orders that reads page in. Each is an immutable key given in the write transaction.
CREATE CONSTRAINT run_position IF NOT EXISTS FOR (n:Run) REQUIRE (n.threadId, n.position) IS UNIQUE;
CREATE CONSTRAINT turn_item_position IF NOT EXISTS FOR (n:TurnItem) REQUIRE (n.runId, n.position) IS UNIQUE;
CREATE CONSTRAINT event_seq IF NOT EXISTS FOR (n:Event) REQUIRE (n.rootThreadId, n.seq) IS UNIQUE;
// "The last run of this provider at or before this point": where a native fork may start.
CREATE INDEX run_provider IF NOT EXISTS FOR (n:Run) ON (n.threadId, n.provider, n.position);
// Which provider thread knows most of a thread, and which transfers still wait for it.
CREATE INDEX provider_thread_tip IF NOT EXISTS FOR (n:ProviderThread) ON (n.threadId, n.provider, n.tipPosition);
CREATE INDEX transfer_waiting IF NOT EXISTS FOR (n:ContextTransfer) ON (n.targetThreadId, n.status);
CREATE INDEX transfer_target IF NOT EXISTS FOR (n:ContextTransfer) ON (n.targetThreadId, n.seq);
CREATE INDEX transfer_source IF NOT EXISTS FOR (n:ContextTransfer) ON (n.sourceThreadId, n.seq);
CREATE INDEX checkpoint_position IF NOT EXISTS FOR (n:Checkpoint) ON (n.threadId, n.kind, n.position);
CREATE CONSTRAINT checkpoint_number IF NOT EXISTS FOR (n:Checkpoint) REQUIRE (n.threadId, n.number) IS UNIQUE;
CREATE INDEX thread_created IF NOT EXISTS FOR (n:Thread) ON (n.createdAt, n.id);
CREATE FULLTEXT INDEX thread_title IF NOT EXISTS FOR (n:Thread) ON EACH [n.title];

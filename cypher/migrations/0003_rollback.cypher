// What a rollback asks: where a thread's history does not simply go on from the run before.
CREATE INDEX run_joint IF NOT EXISTS FOR (n:Run) ON (n.threadId, n.jointPrevious);
// Threads from before rollbacks: every run they ever accepted is in their history.
MATCH (t:Thread) WHERE t.acceptedRuns IS NULL
CALL (t) { SET t.acceptedRuns = t.headOrdinal, t.acceptedTokens = t.headTokens } IN TRANSACTIONS OF 10000 ROWS;

// The result of a subagent has one edge, as the other transfers between threads have.
CREATE CONSTRAINT subagent_result_transfer IF NOT EXISTS FOR ()-[e:SUBAGENT_RESULT]-() REQUIRE e.transferId IS UNIQUE;
// A native child is known by its provider's own id, whatever is heard of it first; and found by the one that started it.
CREATE CONSTRAINT execution_node_native IF NOT EXISTS FOR (n:ExecutionNode) REQUIRE (n.provider, n.nativeId) IS UNIQUE;
CREATE INDEX execution_node_parent IF NOT EXISTS FOR (n:ExecutionNode) ON (n.provider, n.nativeParentId);

// Every id is unique, and so is every key that a MERGE or a retry relies on.
// Community has uniqueness constraints only: types and existence are the service's duty.
CREATE CONSTRAINT thread_id IF NOT EXISTS FOR (n:Thread) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT run_id IF NOT EXISTS FOR (n:Run) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT turn_item_id IF NOT EXISTS FOR (n:TurnItem) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT checkpoint_id IF NOT EXISTS FOR (n:Checkpoint) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT provider_thread_id IF NOT EXISTS FOR (n:ProviderThread) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT execution_node_id IF NOT EXISTS FOR (n:ExecutionNode) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT context_transfer_id IF NOT EXISTS FOR (n:ContextTransfer) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT context_handoff_id IF NOT EXISTS FOR (n:ContextHandoff) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT event_id IF NOT EXISTS FOR (n:Event) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT command_receipt_key IF NOT EXISTS FOR (n:CommandReceipt) REQUIRE n.key IS UNIQUE;
// A native thread stands behind one thread only: two writers would each be told the other's turns.
CREATE CONSTRAINT provider_thread_native IF NOT EXISTS FOR (n:ProviderThread) REQUIRE (n.provider, n.nativeThreadId) IS UNIQUE;
// An edge has a key: the same edge reported twice changes nothing.
CREATE CONSTRAINT fork_transfer IF NOT EXISTS FOR ()-[e:FORK]-() REQUIRE e.transferId IS UNIQUE;
CREATE CONSTRAINT handoff_transfer IF NOT EXISTS FOR ()-[e:HANDOFF]-() REQUIRE e.transferId IS UNIQUE;

// Subagents are archived with the thread that spawned them. An edge has a key, as those of 0001 have.
CREATE CONSTRAINT subagent_transfer IF NOT EXISTS FOR ()-[e:SUBAGENT]-() REQUIRE e.transferId IS UNIQUE;

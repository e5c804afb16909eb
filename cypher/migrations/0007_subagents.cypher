// The result of a subagent has one edge, as the other transfers between threads have.
CREATE CONSTRAINT subagent_result_transfer IF NOT EXISTS FOR ()-[e:SUBAGENT_RESULT]-() REQUIRE e.transferId IS UNIQUE;

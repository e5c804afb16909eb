"""Neo4j: running the statements of `cypher/`, mapping records, migrations, events."""

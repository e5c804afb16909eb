"""GraphQL over HTTP: types, queries, mutations, errors, and the ASGI application."""

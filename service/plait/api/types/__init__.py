"""The output types of the schema. Their sources are the records of the domain, read attribute by attribute.

A field without a resolver is the attribute of the same name of the record; a resolver takes the record as `root`.
"""

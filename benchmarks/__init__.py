"""The figures of the pages: one command prints each table, measured where it runs."""

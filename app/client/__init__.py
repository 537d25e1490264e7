"""A service's client in Python: what can be asked, as values (`calls`), and who sends it (`client`, `async_client`)."""

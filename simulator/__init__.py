"""A language model that is not one: it reads the project's own prompts and answers from a pack's knowledge, with errors
that behave like a model's. Nothing shown with it is evidence about language models."""

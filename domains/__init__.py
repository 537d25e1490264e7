"""What a decision is about: labels, findings, cases, questions. Pure; imports nothing else of this project."""

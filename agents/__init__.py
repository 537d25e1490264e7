"""Who is asked (personas on backbones), and the one door to language models."""

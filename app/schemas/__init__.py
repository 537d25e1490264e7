"""Bodies of requests and answers: the outside's names and shapes, checked once at the edge, published in OpenAPI."""

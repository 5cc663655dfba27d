"""Models in plain JAX, for the quickstart and the tests."""

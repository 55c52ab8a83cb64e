"""Ways to protect a table, one module for each, each with the claims that it makes and keeps."""

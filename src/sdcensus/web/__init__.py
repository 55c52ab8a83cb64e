"""The web server: HTTP in, one call below, pages and JSON out."""

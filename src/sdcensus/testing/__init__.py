"""hypothesis strategies and conformance suites, for us and for authors of methods and engines."""

"""The API for programs, `/api/v1`, and what pages and API have in common."""

"""The API for programs, `/api/v1`, and what pages and API have in common.

Routes, shapes of requests and answers, the OpenAPI document. Answers are made in
``session/answer``, pages in ``web/pages.py``.
"""

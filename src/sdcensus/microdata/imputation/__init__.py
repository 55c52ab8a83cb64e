"""Over-imputation: values are blanked and imputed anew, here or by the office's own system.

Here: which records are chosen, what their new values may not be by the edit rules, the nearest
donor for each, and the exchange of blanked records with another system. Files are written by
``session.derive``; the search itself is a kernel.
"""

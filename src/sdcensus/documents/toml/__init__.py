"""What all documents share: values, lines, languages, mistakes.

TOML with the line of every key, what single settings may be, and the list of everything that is
wrong. What a particular document means stands in its own folder.
"""

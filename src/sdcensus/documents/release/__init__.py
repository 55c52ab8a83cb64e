"""Files for researchers, as an office decides about them.

Reading, checking and writing ``release.toml``, the presets that such a document may start from, and
the file of groups of small categories that an office edits and approves. The nouns are in
``model/release``; what comes of them is the matter of ``session/release``.
"""

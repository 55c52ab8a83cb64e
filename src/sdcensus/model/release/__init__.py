"""Nouns of microdata files for researchers: what an office decides, and the file that comes of it.

``plan`` is what ``release.toml`` says, ``recode`` how codes are told in a file, ``file_variable``
what a design makes of the census, ``licence`` the classes of users and what each accepts, and
``release_file`` the file itself, the only one of them that writers take. The document is read in
``documents/release``, records are drawn and treated in ``microdata/release``, risks measured in
``risk/records``, files written in ``formats/microdata``; ``session/release`` joins them.
"""

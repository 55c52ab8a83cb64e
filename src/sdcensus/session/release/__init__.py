"""Files for researchers: assess designs, make one, check it, register it.

``release`` is the object that commands and Python use. ``opened`` joins a document with its census
and secret, ``designed`` tells what a design tells of whom (``treatments``, ``deletion``,
``extract``), ``columns`` reads it for everybody. ``assess`` measures and judges, ``utility`` says
what users lose, ``make`` writes, checks and registers, ``dummy`` makes files of nobody. What is
drawn and changed is in ``microdata/release``, risks in ``risk/records``, pages and papers in
``report/release``, files on disk in ``formats/microdata``; who holds what in ``session/licence``.
"""

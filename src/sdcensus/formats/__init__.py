"""Files of public numbers and records: written for readers, read back by anybody.

``write`` has one module for each format of a delivered table, ``read`` reads published files as an
intruder or a customer would, ``fill`` puts values into an office's workbook, ``perturbation``
exchanges perturbation tables, ``microdata`` has files of records for researchers. Writers take
public types only; files of raw data are read in ``ingest``.
"""

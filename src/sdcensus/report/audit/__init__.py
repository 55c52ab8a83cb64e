"""What an audit of withheld cells found, as sentences, page, workbook and csv file.

It says how withheld cells can be computed: for the office alone. Nothing is computed here:
``session/audit`` fills the results.
"""

"""Reading and writing what lies on the office's own disk: census stores and secrets.

The encoded census, its exports, the registry of what was published, files for their owner only.
Files for the public are written by ``formats``; raw files are read by ``ingest``.
"""

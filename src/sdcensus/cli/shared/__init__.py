"""What several commands share.

Options, the console, progress bars, drawn tables, and how a command ends when something goes wrong.
No command stands here, and nothing that computes.
"""

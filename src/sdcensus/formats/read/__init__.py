"""Reading published tables back.

Our own files and those of other tools, as anybody has them: for attacks, assessments and
comparisons. Nothing here sees a true count. Writing is in ``formats/write``.
"""

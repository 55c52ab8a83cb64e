"""Risk of designs, and a verdict.

``assessment`` joins everything; ``ladders`` goes along the keys, ``measures`` looks at neighbours,
sensitive variables and special uniques, ``intruder`` matches with a file from elsewhere,
``sample_only`` is for censuses that are samples, ``cumulation`` adds up what is out, ``verdict``
holds measures against what is accepted, ``proposal`` writes groups for small categories.
"""

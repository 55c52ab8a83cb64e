"""What a microdata file costs its users: the census beside the file, arrays in, numbers out.

``distributions`` and ``pairs`` compare shares and associations, ``amounts`` means, spreads and
quantiles, ``sampling_error`` says how far estimates of a sample of whole households may be from the
census, ``formula`` and ``regression`` compare models. ``session/release/utility`` reads the
records and joins all of it; what a file gives away is measured in ``risk/records``.
"""

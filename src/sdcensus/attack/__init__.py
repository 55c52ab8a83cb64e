"""What an intruder could do: sees public tables only; only a separate scorer sees the truth."""

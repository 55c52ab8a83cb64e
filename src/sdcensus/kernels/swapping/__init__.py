"""Loops of swapping: who is selected, and who becomes whose partner."""

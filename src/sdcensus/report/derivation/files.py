def write_effects(*a): pass

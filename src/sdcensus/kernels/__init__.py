"""Pure array functions: arrays in, arrays out; no input or output, no hidden randomness."""

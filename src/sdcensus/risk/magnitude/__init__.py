"""What tables of sums tell about those who contribute to them."""

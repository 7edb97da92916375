"""What tests of Detent, and of things built on it, are made of."""

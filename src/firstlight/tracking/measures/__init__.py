"""What is measured of any model that reads sentences."""

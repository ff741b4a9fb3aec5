"""What is made of a record: ties merged, layers added, the names and the direction of its axes."""

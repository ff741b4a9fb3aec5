"""What is fitted: a record and a model laid out as the arrays that the methods work on."""

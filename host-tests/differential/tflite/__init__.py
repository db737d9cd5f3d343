"""Random TensorFlow Lite models of every operator that Kiln reads. Everything follows from a seed and a number."""

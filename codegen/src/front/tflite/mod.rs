//! Reader of TensorFlow Lite files.

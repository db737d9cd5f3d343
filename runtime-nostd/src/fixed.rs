//! Fixed-point arithmetic of TensorFlow Lite Micro's reference kernels (gemmlowp `fixedpoint.h`, `common.h`), bit for bit.

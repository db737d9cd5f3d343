//! Kernels for Cortex-M0, M0+ and M23: eight low registers, no long multiplication.

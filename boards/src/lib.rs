//! Boards as data, firmware builds, and QEMU runs with instruction counts

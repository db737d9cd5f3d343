//! interp.

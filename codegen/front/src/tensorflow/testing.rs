//! Files for tests.

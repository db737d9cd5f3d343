//! The arena plan.

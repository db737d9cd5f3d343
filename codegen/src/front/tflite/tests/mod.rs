//! Tests of the reader as a whole.

mod corpus;
mod lowering;
mod messages;
mod mutation;

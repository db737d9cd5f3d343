//! Tests of the reader as a whole.

mod corpus;
mod mutation;

//! Tests of the reader as a whole.

mod aliases;
mod corpus;
mod lowering;
mod messages;
mod mutation;
mod operators;
mod open_shapes;

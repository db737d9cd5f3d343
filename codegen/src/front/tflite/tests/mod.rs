//! Tests of the reader as a whole.

mod aliases;
mod control;
mod corpus;
mod lowering;
mod messages;
mod mutation;
mod open_shapes;
mod operators;

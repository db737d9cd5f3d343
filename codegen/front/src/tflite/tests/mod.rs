//! Tests of the reader as a whole.

mod aliases;
mod computed;
mod control;
mod corpus;
mod lowering;
mod messages;
mod mutation;
mod open_shapes;
mod operators;

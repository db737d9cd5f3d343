//! Tests of the reader of bytecode.

mod corpus;
mod damaged;
mod files;

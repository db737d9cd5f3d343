//! Every kernel against an implementation written straight from the arithmetic's definition, which shares no code with it.

mod convolution;
mod elementwise;
mod movement;
mod pooling;
mod softmax;
mod support;
mod table;
mod unary;

//! `include_model!`

//! Matrix products of single pixels, four filters at a time.

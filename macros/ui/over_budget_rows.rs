kiln::include_model!(pub Pool = "../../../../host-tests/models/tflite/op_avg_pool_whole_image_int8.tflite", ram = "64");

fn main() {}

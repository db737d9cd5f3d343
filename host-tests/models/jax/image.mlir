module @jit_network attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x8x8x2xf32>) -> (tensor<1x5xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<"0x350B043CFF17A43E7ECC933EA455F6BDD7D58FBDF593FEBD3782093EB18158BC8544343E31EFDEBEE80CBD3EC032BABC2E37243E9BD803BD6FFFB6BD3D8DDF3DFD00473E9C8743BD5E8113BDE67F253E8D1052BE50C1B6BE3AAABE3DE0D821BEF0BEE7BEB27A44BEC6B7E1BDC2FE8FBE211CB4BE697C0D3C2D8F583EFF1261BD437933BEF2D7B93D851C2D3E12D290BDE675033E1FB57B3EA4CD47BD725944BE39D1A73D5CFD6E3DAF9A843ECC059BBEB2AF1FBE9B4C4ABE9942D1BE0A21F43CDDC7FE3D4F5032BE2238A73E0261463E4C6C173E4DE9C13DD9A8663E24BEA0BE722D143E567C113ED753D5BE8C84A73D12C471BDACA03C3E7EF1D3BD14E28CBB2C80A53D667E53BE0D7A103EABABCABCF8BAED3D86E6FBBD1315833E2E12123E32DF2BBD5487183ED506983E8428D83E04E6BDBEE426553E3E7FE03DB63BB5BCBFF772BE8BB7973E174498BE63D6083EDE1B9D3E210CC1BEE80792BDE7FE9DBE659E6B3D0EC1B63EAC33F43E0295D6BEE9C40ABE99CE293E1699BE3E7853CB3D311734BE496E8F3DB75B80BBDFB244BD744531BEF6EFBA3D7E9E943D608AB3BC8F0656BD2B109BBE94AFEABD0498913ECEF837BDF6BDADBE3B0AA13E02F8FF3D2C67FE3EF767713C00B8DEBD7DB3AEBE9EC29F3E340B1B3FE02346BE352E1CBE46E50F3E546948BE7C9A82BD7FDFA8BDF952393D491F843E5870AA3B8EC95D3E22B0CABDFD3B9E3D230501BFA6FAAEBED819403E1D700EBEBFF70B3E55E6023E70929F3E18F3433ECB75753E879FD7BC998928BE819130BE7496EBBDE75888BE"> : tensor<3x3x2x8xf32>
    %cst_0 = stablehlo.constant dense<[0.452556431, 0.907430946, 1.25161195, 0.661109209, -0.923682808, 0.92771703, 1.22534585, 2.08447552]> : tensor<8xf32>
    %cst_1 = stablehlo.constant dense<[[[[0.192621306, -0.214520231, -0.24125886, 0.670199156, 0.252212644, 0.610479951, 0.709814846, -0.272694558]], [[0.128423095, 0.152722329, 0.186537415, 0.180634081, 0.0673515424, 0.0580430813, -0.500833333, -0.0551337264]], [[-0.249206573, 4.202910e-02, -0.155848756, 0.206173584, 0.273025244, 0.102897458, 0.105389379, 0.030982228]]], [[[-0.14926596, -0.0548337549, -0.165215358, 0.129329041, 0.00470447075, 0.193763733, -0.442882776, 0.295926303]], [[-0.254232079, -0.244760722, -0.0658143312, -0.187794864, 0.0970417335, -0.191388264, -0.356492519, -0.281934261]], [[0.437327772, 0.0147527764, -0.389176756, 0.00279246783, -0.518648803, 0.596522212, -0.508159399, 0.159584239]]], [[[0.181208551, -0.483335912, 0.100092173, 0.332390666, 0.155858427, 0.0870054215, 0.31636557, 0.0536348484]], [[0.112141766, -0.0422371812, 0.210601911, -0.313794702, 0.263921082, -0.168433845, -0.36355111, 0.121749654]], [[0.564318538, 0.320559412, -0.17188327, 0.232686564, -0.15140304, -0.0413398184, 0.0298428312, -0.772406101]]]]> : tensor<3x3x1x8xf32>
    %cst_2 = stablehlo.constant dense<[[0.0677460507, -0.364021808, -0.246567652, -0.521275699, -0.536184311], [-0.333494335, 0.291892737, 0.589034557, -8.911350e-03, 0.386006385], [-0.093331255, -0.675984502, 0.0530035272, 0.157560453, -0.151538834], [0.106852405, 0.202429205, -0.305260658, -0.522139728, -0.0782251581], [-0.0746211707, -0.124685273, 0.349044442, 0.610087752, -0.147306964], [0.247093767, 0.332669377, 0.252138883, 0.370342314, -0.137618527], [0.261561036, 0.715762436, 0.28413868, -0.219165504, 0.214858815], [0.446318835, 0.130456358, -0.199192226, 0.545561373, -0.441859365]]> : tensor<8x5xf32>
    %cst_3 = stablehlo.constant dense<[0.503425062, -0.0161755737, -1.19366574, 1.21944964, 0.347887605]> : tensor<5xf32>
    %0 = stablehlo.convolution(%arg0, %cst) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x2xf32>, tensor<3x3x2x8xf32>) -> tensor<1x8x8x8xf32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [3] : (tensor<8xf32>) -> tensor<1x1x1x8xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3] : (tensor<1x1x1x8xf32>) -> tensor<1x8x8x8xf32>
    %3 = stablehlo.multiply %0, %2 : tensor<1x8x8x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_4 = stablehlo.constant dense<6> : tensor<i32>
    %4 = call @clip(%3, %c, %c_4) : (tensor<1x8x8x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8x8xf32>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<f32>
    %6 = "stablehlo.reduce_window"(%4, %5) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %27 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
      stablehlo.return %27 : tensor<f32>
    }) : (tensor<1x8x8x8xf32>, tensor<f32>) -> tensor<1x4x4x8xf32>
    %7 = stablehlo.convolution(%6, %cst_1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 8 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x4x4x8xf32>, tensor<3x3x1x8xf32>) -> tensor<1x4x4x8xf32>
    %8 = call @relu(%7) : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
    %9 = stablehlo.add %6, %8 : tensor<1x4x4x8xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst_6) applies stablehlo.add across dimensions = [1, 2] : (tensor<1x4x4x8xf32>, tensor<f32>) -> tensor<1x8xf32>
    %cst_7 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<1x8xf32>
    %12 = stablehlo.divide %10, %11 : tensor<1x8xf32>
    %13 = stablehlo.dot_general %12, %cst_2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x8xf32>, tensor<8x5xf32>) -> tensor<1x5xf32>
    %14 = stablehlo.broadcast_in_dim %cst_3, dims = [1] : (tensor<5xf32>) -> tensor<1x5xf32>
    %15 = stablehlo.add %13, %14 : tensor<1x5xf32>
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %16 = stablehlo.reduce(%15 init: %cst_8) applies stablehlo.maximum across dimensions = [1] : (tensor<1x5xf32>, tensor<f32>) -> tensor<1xf32>
    %cst_9 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %18 = stablehlo.maximum %17, %16 : tensor<1xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x5xf32>
    %21 = stablehlo.subtract %15, %20 : tensor<1x5xf32>
    %22 = stablehlo.exponential %21 : tensor<1x5xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.reduce(%22 init: %cst_10) applies stablehlo.add across dimensions = [1] : (tensor<1x5xf32>, tensor<f32>) -> tensor<1xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x5xf32>
    %26 = stablehlo.divide %22, %25 : tensor<1x5xf32>
    return %26 : tensor<1x5xf32>
  }
  func.func private @clip(%arg0: tensor<1x8x8x8xf32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<1x8x8x8xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x8x8x8xf32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<1x8x8x8xf32>
    %3 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<1x8x8x8xf32>
    %5 = stablehlo.minimum %4, %2 : tensor<1x8x8x8xf32>
    return %5 : tensor<1x8x8x8xf32>
  }
  func.func private @relu(%arg0: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x4x4x8xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<1x4x4x8xf32>
    return %1 : tensor<1x4x4x8xf32>
  }
}

"builtin.module"() <{sym_name = "jit_network"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<1x8x8x2xf32>) -> tensor<1x5xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg4: tensor<1x8x8x2xf32>):
    %9 = "stablehlo.constant"() <{value = dense<"0x350B043CFF17A43E7ECC933EA455F6BDD7D58FBDF593FEBD3782093EB18158BC8544343E31EFDEBEE80CBD3EC032BABC2E37243E9BD803BD6FFFB6BD3D8DDF3DFD00473E9C8743BD5E8113BDE67F253E8D1052BE50C1B6BE3AAABE3DE0D821BEF0BEE7BEB27A44BEC6B7E1BDC2FE8FBE211CB4BE697C0D3C2D8F583EFF1261BD437933BEF2D7B93D851C2D3E12D290BDE675033E1FB57B3EA4CD47BD725944BE39D1A73D5CFD6E3DAF9A843ECC059BBEB2AF1FBE9B4C4ABE9942D1BE0A21F43CDDC7FE3D4F5032BE2238A73E0261463E4C6C173E4DE9C13DD9A8663E24BEA0BE722D143E567C113ED753D5BE8C84A73D12C471BDACA03C3E7EF1D3BD14E28CBB2C80A53D667E53BE0D7A103EABABCABCF8BAED3D86E6FBBD1315833E2E12123E32DF2BBD5487183ED506983E8428D83E04E6BDBEE426553E3E7FE03DB63BB5BCBFF772BE8BB7973E174498BE63D6083EDE1B9D3E210CC1BEE80792BDE7FE9DBE659E6B3D0EC1B63EAC33F43E0295D6BEE9C40ABE99CE293E1699BE3E7853CB3D311734BE496E8F3DB75B80BBDFB244BD744531BEF6EFBA3D7E9E943D608AB3BC8F0656BD2B109BBE94AFEABD0498913ECEF837BDF6BDADBE3B0AA13E02F8FF3D2C67FE3EF767713C00B8DEBD7DB3AEBE9EC29F3E340B1B3FE02346BE352E1CBE46E50F3E546948BE7C9A82BD7FDFA8BDF952393D491F843E5870AA3B8EC95D3E22B0CABDFD3B9E3D230501BFA6FAAEBED819403E1D700EBEBFF70B3E55E6023E70929F3E18F3433ECB75753E879FD7BC998928BE819130BE7496EBBDE75888BE"> : tensor<3x3x2x8xf32>}> : () -> tensor<3x3x2x8xf32>
    %10 = "stablehlo.constant"() <{value = dense<[0.452556431, 0.907430946, 1.25161195, 0.661109209, -0.923682808, 0.92771703, 1.22534585, 2.08447552]> : tensor<8xf32>}> : () -> tensor<8xf32>
    %11 = "stablehlo.constant"() <{value = dense<[[[[0.192621306, -0.214520231, -0.24125886, 0.670199156, 0.252212644, 0.610479951, 0.709814846, -0.272694558]], [[0.128423095, 0.152722329, 0.186537415, 0.180634081, 0.0673515424, 0.0580430813, -0.500833333, -0.0551337264]], [[-0.249206573, 4.202910e-02, -0.155848756, 0.206173584, 0.273025244, 0.102897458, 0.105389379, 0.030982228]]], [[[-0.14926596, -0.0548337549, -0.165215358, 0.129329041, 0.00470447075, 0.193763733, -0.442882776, 0.295926303]], [[-0.254232079, -0.244760722, -0.0658143312, -0.187794864, 0.0970417335, -0.191388264, -0.356492519, -0.281934261]], [[0.437327772, 0.0147527764, -0.389176756, 0.00279246783, -0.518648803, 0.596522212, -0.508159399, 0.159584239]]], [[[0.181208551, -0.483335912, 0.100092173, 0.332390666, 0.155858427, 0.0870054215, 0.31636557, 0.0536348484]], [[0.112141766, -0.0422371812, 0.210601911, -0.313794702, 0.263921082, -0.168433845, -0.36355111, 0.121749654]], [[0.564318538, 0.320559412, -0.17188327, 0.232686564, -0.15140304, -0.0413398184, 0.0298428312, -0.772406101]]]]> : tensor<3x3x1x8xf32>}> : () -> tensor<3x3x1x8xf32>
    %12 = "stablehlo.constant"() <{value = dense<[[0.0677460507, -0.364021808, -0.246567652, -0.521275699, -0.536184311], [-0.333494335, 0.291892737, 0.589034557, -8.911350e-03, 0.386006385], [-0.093331255, -0.675984502, 0.0530035272, 0.157560453, -0.151538834], [0.106852405, 0.202429205, -0.305260658, -0.522139728, -0.0782251581], [-0.0746211707, -0.124685273, 0.349044442, 0.610087752, -0.147306964], [0.247093767, 0.332669377, 0.252138883, 0.370342314, -0.137618527], [0.261561036, 0.715762436, 0.28413868, -0.219165504, 0.214858815], [0.446318835, 0.130456358, -0.199192226, 0.545561373, -0.441859365]]> : tensor<8x5xf32>}> : () -> tensor<8x5xf32>
    %13 = "stablehlo.constant"() <{value = dense<[0.503425062, -0.0161755737, -1.19366574, 1.21944964, 0.347887605]> : tensor<5xf32>}> : () -> tensor<5xf32>
    %14 = "stablehlo.convolution"(%arg4, %9) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<1x8x8x2xf32>, tensor<3x3x2x8xf32>) -> tensor<1x8x8x8xf32>
    %15 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64: 3>}> : (tensor<8xf32>) -> tensor<1x1x1x8xf32>
    %16 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x8xf32>) -> tensor<1x8x8x8xf32>
    %17 = "stablehlo.multiply"(%14, %16) : (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    %18 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %19 = "stablehlo.constant"() <{value = dense<6> : tensor<i32>}> : () -> tensor<i32>
    %20 = "func.call"(%17, %18, %19) <{callee = @clip}> : (tensor<1x8x8x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8x8xf32>
    %21 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %22 = "stablehlo.broadcast_in_dim"(%21) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
    %23 = "stablehlo.reduce_window"(%20, %22) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg11: tensor<f32>, %arg12: tensor<f32>):
      %52 = "stablehlo.maximum"(%arg11, %arg12) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%52) : (tensor<f32>) -> ()
    }) : (tensor<1x8x8x8xf32>, tensor<f32>) -> tensor<1x4x4x8xf32>
    %24 = "stablehlo.convolution"(%23, %11) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 8 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<1x4x4x8xf32>, tensor<3x3x1x8xf32>) -> tensor<1x4x4x8xf32>
    %25 = "func.call"(%24) <{callee = @relu}> : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
    %26 = "stablehlo.add"(%23, %25) : (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
    %27 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %28 = "stablehlo.reduce"(%26, %27) <{dimensions = array<i64: 1, 2>}> ({
    ^bb0(%arg9: tensor<f32>, %arg10: tensor<f32>):
      %51 = "stablehlo.add"(%arg9, %arg10) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%51) : (tensor<f32>) -> ()
    }) : (tensor<1x4x4x8xf32>, tensor<f32>) -> tensor<1x8xf32>
    %29 = "stablehlo.constant"() <{value = dense<1.600000e+01> : tensor<f32>}> : () -> tensor<f32>
    %30 = "stablehlo.broadcast_in_dim"(%29) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x8xf32>
    %31 = "stablehlo.divide"(%28, %30) : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
    %32 = "stablehlo.dot_general"(%31, %12) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x8xf32>, tensor<8x5xf32>) -> tensor<1x5xf32>
    %33 = "stablehlo.broadcast_in_dim"(%13) <{broadcast_dimensions = array<i64: 1>}> : (tensor<5xf32>) -> tensor<1x5xf32>
    %34 = "stablehlo.add"(%32, %33) : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<1x5xf32>
    %35 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %36 = "stablehlo.reduce"(%34, %35) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
      %50 = "stablehlo.maximum"(%arg7, %arg8) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%50) : (tensor<f32>) -> ()
    }) : (tensor<1x5xf32>, tensor<f32>) -> tensor<1xf32>
    %37 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %38 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1xf32>
    %39 = "stablehlo.maximum"(%38, %36) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %40 = "stablehlo.broadcast_in_dim"(%39) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<1x1xf32>
    %41 = "stablehlo.broadcast_in_dim"(%40) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<1x5xf32>
    %42 = "stablehlo.subtract"(%34, %41) : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<1x5xf32>
    %43 = "stablehlo.exponential"(%42) : (tensor<1x5xf32>) -> tensor<1x5xf32>
    %44 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %45 = "stablehlo.reduce"(%43, %44) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %49 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%49) : (tensor<f32>) -> ()
    }) : (tensor<1x5xf32>, tensor<f32>) -> tensor<1xf32>
    %46 = "stablehlo.broadcast_in_dim"(%45) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<1x1xf32>
    %47 = "stablehlo.broadcast_in_dim"(%46) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<1x5xf32>
    %48 = "stablehlo.divide"(%43, %47) : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<1x5xf32>
    "func.return"(%48) : (tensor<1x5xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<1x8x8x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8x8xf32>, res_attrs = [{}], sym_name = "clip", sym_visibility = "private"}> ({
  ^bb0(%arg1: tensor<1x8x8x8xf32>, %arg2: tensor<i32>, %arg3: tensor<i32>):
    %3 = "stablehlo.convert"(%arg2) : (tensor<i32>) -> tensor<f32>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x8x8x8xf32>
    %5 = "stablehlo.maximum"(%4, %arg1) : (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    %6 = "stablehlo.convert"(%arg3) : (tensor<i32>) -> tensor<f32>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x8x8x8xf32>
    %8 = "stablehlo.minimum"(%7, %5) : (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    "func.return"(%8) : (tensor<1x8x8x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>, res_attrs = [{}], sym_name = "relu", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<1x4x4x8xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x4x4x8xf32>
    %2 = "stablehlo.maximum"(%arg0, %1) : (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
    "func.return"(%2) : (tensor<1x4x4x8xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

"builtin.module"() <{sym_name = "jit_network"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<1x8x8x2xf32>) -> tensor<1x5xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg4: tensor<1x8x8x2xf32>):
    %21 = "stablehlo.constant"() <{value = dense<"0x350B043CFF17A43E7ECC933EA455F6BDD7D58FBDF593FEBD3782093EB18158BC8544343E31EFDEBEE80CBD3EC032BABC2E37243E9BD803BD6FFFB6BD3D8DDF3DFD00473E9C8743BD5E8113BDE67F253E8D1052BE50C1B6BE3AAABE3DE0D821BEF0BEE7BEB27A44BEC6B7E1BDC2FE8FBE211CB4BE697C0D3C2D8F583EFF1261BD437933BEF2D7B93D851C2D3E12D290BDE675033E1FB57B3EA4CD47BD725944BE39D1A73D5CFD6E3DAF9A843ECC059BBEB2AF1FBE9B4C4ABE9942D1BE0A21F43CDDC7FE3D4F5032BE2238A73E0261463E4C6C173E4DE9C13DD9A8663E24BEA0BE722D143E567C113ED753D5BE8C84A73D12C471BDACA03C3E7EF1D3BD14E28CBB2C80A53D667E53BE0D7A103EABABCABCF8BAED3D86E6FBBD1315833E2E12123E32DF2BBD5487183ED506983E8428D83E04E6BDBEE426553E3E7FE03DB63BB5BCBFF772BE8BB7973E174498BE63D6083EDE1B9D3E210CC1BEE80792BDE7FE9DBE659E6B3D0EC1B63EAC33F43E0295D6BEE9C40ABE99CE293E1699BE3E7853CB3D311734BE496E8F3DB75B80BBDFB244BD744531BEF6EFBA3D7E9E943D608AB3BC8F0656BD2B109BBE94AFEABD0498913ECEF837BDF6BDADBE3B0AA13E02F8FF3D2C67FE3EF767713C00B8DEBD7DB3AEBE9EC29F3E340B1B3FE02346BE352E1CBE46E50F3E546948BE7C9A82BD7FDFA8BDF952393D491F843E5870AA3B8EC95D3E22B0CABDFD3B9E3D230501BFA6FAAEBED819403E1D700EBEBFF70B3E55E6023E70929F3E18F3433ECB75753E879FD7BC998928BE819130BE7496EBBDE75888BE"> : tensor<3x3x2x8xf32>}> : () -> tensor<3x3x2x8xf32>
    %22 = "stablehlo.constant"() <{value = dense<[0.452556431, 0.907430946, 1.25161195, 0.661109209, -0.923682808, 0.92771703, 1.22534585, 2.08447552]> : tensor<8xf32>}> : () -> tensor<8xf32>
    %23 = "stablehlo.constant"() <{value = dense<[0.577863872, -0.643560707, -0.723776579, 2.01059747, 0.75663793, 1.83143985, 2.1294446, -0.818083643]> : tensor<8xf32>}> : () -> tensor<8xf32>
    %24 = "stablehlo.constant"() <{value = dense<[[[[0.0870054215, 0.31636557, 0.0536348484, 0.112141766, -0.0422371812, 0.210601911, -0.313794702, 0.263921082]], [[-0.168433845, -0.36355111, 0.121749654, 0.564318538, 0.320559412, -0.17188327, 0.232686564, -0.15140304]], [[-0.0413398184, 0.0298428312, -0.772406101, 0.0638715922, -0.343203068, -0.232466206, -0.491463482, -0.50551939]]], [[[-0.314421475, 0.275199085, 0.555347145, -0.00840170122, 0.363930315, -0.0879935473, -0.637324273, 0.0499722064]], [[0.148549423, -0.142872185, 0.100741409, 0.190852076, -0.287802517, -0.492278039, -0.07375139, -0.0703535154]], [[-0.117554404, 0.329082251, 0.575196266, -0.138882339, 0.232962236, 0.313643694, 0.237718806, 0.349162102]]], [[[-0.129747987, 0.246602118, 0.674827337, 0.267888516, -0.206631228, 0.202570826, 0.420793444, 0.122995429]], [[-0.187800229, 0.514360189, -0.416589022, 0.167808354, -0.00539185805, -0.397888571, 0.406483233, 0.115962528]], [[-0.388932735, 0.200576112, -0.143866807, -0.634262859, -0.229635045, 0.0878504812, 0.211900964, 0.055188302]]]]> : tensor<3x3x1x8xf32>}> : () -> tensor<3x3x1x8xf32>
    %25 = "stablehlo.constant"() <{value = dense<[0.0451650098, 0.469990015, -0.210976109, 1.17695463, 0.148641646, 0.29392156, 0.540798962, -1.05716884]> : tensor<8xf32>}> : () -> tensor<8xf32>
    %26 = "stablehlo.constant"() <{value = dense<[[[[-0.250749558, 0.540434301, 0.118549526, -0.0999198704, 0.120732658, -0.170279175, 0.0984880551, -0.235420972], [0.0975873917, -0.557802081, 0.470551193, -1.813580e-01, -0.559053183, -0.0791399926, -0.131166965, 0.0538809784], [-0.404907227, 0.140525311, 1.28112459, -0.452077299, 0.119400486, -0.109855704, 0.0680973157, -0.640571237], [-0.406943262, 0.16251418, -0.013582821, 5.781440e-01, -0.249183506, 0.0616948977, 1.02994394, -0.270666838], [-0.319553405, -0.0124203609, -0.0157552864, 0.298458219, 0.0458119884, -0.267547756, 0.0747488067, 0.932884812], [0.449639887, -0.983645319, -0.0502105616, -0.30939123, 0.220003024, -0.0612578914, 0.683311164, 0.329241484], [0.314804971, 0.0659628287, -0.0142473718, 0.120271765, 0.457950562, 0.18893531, -0.124144107, 0.450810492], [0.0679212734, -0.0274410695, -0.279793978, -0.200108483, -0.224876493, -0.987247347, 0.359509408, 0.20028007]]]]> : tensor<1x1x8x8xf32>}> : () -> tensor<1x1x8x8xf32>
    %27 = "stablehlo.constant"() <{value = dense<[-0.214270592, 1.04598379, 0.437987775, 0.371567488, -2.47476363, -0.233015925, 0.532189131, 1.60968685]> : tensor<8xf32>}> : () -> tensor<8xf32>
    %28 = "stablehlo.constant"() <{value = dense<[[0.136213273, 0.1619865, 0.197852805, 0.191591367, 0.0714371055], [0.0615639836, -0.531213939, -0.0584781505, -0.264323473, 0.0445785932], [-0.16530256, 0.218680114, 2.895870e-01, 0.109139234, 0.11178232], [0.0328616165, -0.158320457, -0.0581599809, -0.175237343, 0.137174174], [0.00498984475, 0.205517471, -0.46974811, 0.313877255, -0.269653827], [-0.259607971, -0.0698066354, -0.199186534, 0.102928303, -0.202997908], [-0.378117412, -0.299036443, 0.463856161, 0.0156476814, -0.412784278], [0.00296185934, -0.550110102, 0.632707297, -0.538984418, 0.169264644]]> : tensor<8x5xf32>}> : () -> tensor<8x5xf32>
    %29 = "stablehlo.constant"() <{value = dense<[0.543625653, -1.4500078, 0.300276518, 0.997172057, 0.467575282]> : tensor<5xf32>}> : () -> tensor<5xf32>
    %30 = "stablehlo.convolution"(%arg4, %21) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<1x8x8x2xf32>, tensor<3x3x2x8xf32>) -> tensor<1x8x8x8xf32>
    %31 = "stablehlo.broadcast_in_dim"(%22) <{broadcast_dimensions = array<i64: 3>}> : (tensor<8xf32>) -> tensor<1x1x1x8xf32>
    %32 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x8xf32>) -> tensor<1x8x8x8xf32>
    %33 = "stablehlo.multiply"(%30, %32) : (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    %34 = "stablehlo.broadcast_in_dim"(%23) <{broadcast_dimensions = array<i64: 3>}> : (tensor<8xf32>) -> tensor<1x1x1x8xf32>
    %35 = "stablehlo.broadcast_in_dim"(%34) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x8xf32>) -> tensor<1x8x8x8xf32>
    %36 = "stablehlo.add"(%33, %35) : (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    %37 = "func.call"(%36) <{callee = @relu6}> : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    %38 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %39 = "stablehlo.broadcast_in_dim"(%38) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
    %40 = "stablehlo.reduce_window"(%37, %39) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg11: tensor<f32>, %arg12: tensor<f32>):
      %76 = "stablehlo.maximum"(%arg11, %arg12) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%76) : (tensor<f32>) -> ()
    }) : (tensor<1x8x8x8xf32>, tensor<f32>) -> tensor<1x4x4x8xf32>
    %41 = "stablehlo.convolution"(%40, %24) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 8 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<1x4x4x8xf32>, tensor<3x3x1x8xf32>) -> tensor<1x4x4x8xf32>
    %42 = "stablehlo.broadcast_in_dim"(%25) <{broadcast_dimensions = array<i64: 3>}> : (tensor<8xf32>) -> tensor<1x1x1x8xf32>
    %43 = "stablehlo.broadcast_in_dim"(%42) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x8xf32>) -> tensor<1x4x4x8xf32>
    %44 = "stablehlo.add"(%41, %43) : (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
    %45 = "stablehlo.convolution"(%44, %26) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<1x4x4x8xf32>, tensor<1x1x8x8xf32>) -> tensor<1x4x4x8xf32>
    %46 = "stablehlo.broadcast_in_dim"(%27) <{broadcast_dimensions = array<i64: 3>}> : (tensor<8xf32>) -> tensor<1x1x1x8xf32>
    %47 = "stablehlo.broadcast_in_dim"(%46) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x8xf32>) -> tensor<1x4x4x8xf32>
    %48 = "stablehlo.add"(%45, %47) : (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
    %49 = "func.call"(%48) <{callee = @hard_silu}> : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
    %50 = "stablehlo.add"(%40, %49) : (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
    %51 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %52 = "stablehlo.reduce"(%50, %51) <{dimensions = array<i64: 1, 2>}> ({
    ^bb0(%arg9: tensor<f32>, %arg10: tensor<f32>):
      %75 = "stablehlo.add"(%arg9, %arg10) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%75) : (tensor<f32>) -> ()
    }) : (tensor<1x4x4x8xf32>, tensor<f32>) -> tensor<1x8xf32>
    %53 = "stablehlo.constant"() <{value = dense<1.600000e+01> : tensor<f32>}> : () -> tensor<f32>
    %54 = "stablehlo.broadcast_in_dim"(%53) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x8xf32>
    %55 = "stablehlo.divide"(%52, %54) : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
    %56 = "stablehlo.dot_general"(%55, %28) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x8xf32>, tensor<8x5xf32>) -> tensor<1x5xf32>
    %57 = "stablehlo.broadcast_in_dim"(%29) <{broadcast_dimensions = array<i64: 1>}> : (tensor<5xf32>) -> tensor<1x5xf32>
    %58 = "stablehlo.add"(%56, %57) : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<1x5xf32>
    %59 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %60 = "stablehlo.reduce"(%58, %59) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
      %74 = "stablehlo.maximum"(%arg7, %arg8) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%74) : (tensor<f32>) -> ()
    }) : (tensor<1x5xf32>, tensor<f32>) -> tensor<1xf32>
    %61 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %62 = "stablehlo.broadcast_in_dim"(%61) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1xf32>
    %63 = "stablehlo.maximum"(%62, %60) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %64 = "stablehlo.broadcast_in_dim"(%63) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<1x1xf32>
    %65 = "stablehlo.broadcast_in_dim"(%64) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<1x5xf32>
    %66 = "stablehlo.subtract"(%58, %65) : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<1x5xf32>
    %67 = "stablehlo.exponential"(%66) : (tensor<1x5xf32>) -> tensor<1x5xf32>
    %68 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %69 = "stablehlo.reduce"(%67, %68) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %73 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%73) : (tensor<f32>) -> ()
    }) : (tensor<1x5xf32>, tensor<f32>) -> tensor<1xf32>
    %70 = "stablehlo.broadcast_in_dim"(%69) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<1x1xf32>
    %71 = "stablehlo.broadcast_in_dim"(%70) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<1x5xf32>
    %72 = "stablehlo.divide"(%67, %71) : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<1x5xf32>
    "func.return"(%72) : (tensor<1x5xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>, res_attrs = [{}], sym_name = "relu6", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<1x8x8x8xf32>):
    %15 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %16 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x8x8x8xf32>
    %17 = "stablehlo.maximum"(%arg3, %16) : (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    %18 = "stablehlo.constant"() <{value = dense<6.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %19 = "stablehlo.broadcast_in_dim"(%18) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x8x8x8xf32>
    %20 = "stablehlo.minimum"(%17, %19) : (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    "func.return"(%20) : (tensor<1x8x8x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>, res_attrs = [{}], sym_name = "hard_silu", sym_visibility = "private"}> ({
  ^bb0(%arg2: tensor<1x4x4x8xf32>):
    %13 = "func.call"(%arg2) <{callee = @hard_sigmoid}> : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
    %14 = "stablehlo.multiply"(%arg2, %13) : (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
    "func.return"(%14) : (tensor<1x4x4x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>, res_attrs = [{}], sym_name = "hard_sigmoid", sym_visibility = "private"}> ({
  ^bb0(%arg1: tensor<1x4x4x8xf32>):
    %6 = "stablehlo.constant"() <{value = dense<3.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x4x4x8xf32>
    %8 = "stablehlo.add"(%arg1, %7) : (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
    %9 = "func.call"(%8) <{callee = @relu6_0}> : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
    %10 = "stablehlo.constant"() <{value = dense<6.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %11 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x4x4x8xf32>
    %12 = "stablehlo.divide"(%9, %11) : (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
    "func.return"(%12) : (tensor<1x4x4x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>, res_attrs = [{}], sym_name = "relu6_0", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<1x4x4x8xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x4x4x8xf32>
    %2 = "stablehlo.maximum"(%arg0, %1) : (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
    %3 = "stablehlo.constant"() <{value = dense<6.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x4x4x8xf32>
    %5 = "stablehlo.minimum"(%2, %4) : (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
    "func.return"(%5) : (tensor<1x4x4x8xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

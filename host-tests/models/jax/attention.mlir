module @jit_network attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x5x8xf32>) -> (tensor<1x5x8xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<[-0.566830873, 0.733717203, 0.472669244, 2.5011065, -0.189996481, 1.98651624, -0.828929901, 1.27081645]> : tensor<8xf32>
    %cst_0 = stablehlo.constant dense<[0.819034159, -0.826699376, -0.821276366, -1.29607439, 1.09360361, 1.8779273, -1.04923499, 0.203187257]> : tensor<8xf32>
    %cst_1 = stablehlo.constant dense<"0xCB55A33EDB05FE3EACD31C3F2C0CFBBD704CE2BEDDD171BF59330CBEA19E893E55FB083EA0CE263DC191FDBDB9B367BEF566CDBD09D30C3ECAB61FBFEEF2833E2D0104BFCD2B65BD5DB865BEBEC805BE28AABDBE3835D1BE12FBA8BD76F4C4BEBD395E3FF16D18BE25886FBE2D1849BE7E18C3BEB3E75EBF4915BEBDF1E2DB3D88BC08BFD9CD0BBAC046DCBEBCD578BC70D0FE3D89102D3E79CF1A3E5ADD80BE36E79D3E9A1625BEF697F73D2F267C3E2F31E2BD5A06EABEF4105B3EEEC5CBBE93DAA2BEEC28C9BE27F3963EEB1C79BD40544CBF3369833E0B9F3A3F2D1A223F25F050BE9C0FC53C3DCC343E9EFF9F3E2C7C113CE4E7C7BEC3D0863E13125B3E12B7F2BE53B408BEA31EBB3D6FD49CBB22E8393E91058E3E7016403E17AD36BD9043F6BEDBBE5A3E8F8AFB3EB0C0313F180C83BC23788ABCF5D0013FAD1D013F7890ED3D936D7D3ECF2B8CBE3FB94E3ED4F597BEB8BC65BD8FFC45BDE1B02EBE096540BFF21998BE4B24E73D8A0CD9BCA8A313BEFC17163EF639743E97DB963E00C794BE3872103BFA3BFDBD08DFA1BE17EC08BFD6F625BDF3FEA0BE5F69413F25E026BD2099AEBD71FF15BEB03F283F1F83ADBE84A780BD07588EBED0B64CBD210D98BC38E6C33E06B201BF1BFE59BC71C9103F48A43EBE2FAB8CBDEA99A3BEA6806EBF2FE02FBDC9C4D13EF5772FBECBA828BFB2AFB43D8CF1B33C4C09B23E02C2A13E9FE4CFBD4AA30A3EB66424BFA58DC63E26B2743D6861C13EE24DBD3EA55EDCBDB90571BD816DA1BE50903CBF01BC57BD20E2453D1DA1C7BEFB8B7B3E36F6EB3C83121E3E7A658EBE843E21BFC6BD893E880D573ED7A237BD8A9C1EBE7FE4D4BD28ED5EBD455E3EBEDE8C37BFF0E38A3E1FD408BF7549FDBDCA51EABD1BF4B03D918913BF398FD73E88A6673EB29D883E10C2E23EF10893BE637D8EBF00E4E73D5B78EB3E8176D03E3F7C45BE27DF11BDB1C8C83DBB5024BF4C2D74BE3BE168BE78C00E3F3AED6DBE30B70D3F6BF6513BD91918BF6F6E483FDC62B0BE15485F3E435F1A3F6EBE41BE09C2DEBE416DBC3E0378BD3CC42BDEBEE9B7C3BE"> : tensor<8x24xf32>
    %cst_2 = stablehlo.constant dense<[0.549758554, -1.21399033, 1.22406077, -0.0926705748, -1.58631301, -0.299464852, 1.7128576, -0.930771529, -1.38066518, 0.441325843, 1.23506689, 0.944998621, -0.399927616, 0.116131939, 0.253497899, 1.10248375, 2.07708573, -0.179339483, 1.22768223, -0.415562749, 0.517399132, -1.00480199, -0.835634648, 0.343584418]> : tensor<24xf32>
    %cst_3 = stablehlo.constant dense<[[-0.137766093, 0.340832442, -0.101490341, 0.231407791, 0.584322572, 0.448809534, 0.508260846, 0.435544431], [-0.568700194, 0.432375818, 0.116156623, -0.0439812876, -0.383481354, -0.561799049, -0.392833114, -0.00755331293], [-0.415456325, -0.28866744, -0.218039408, 0.235656992, -0.104361825, -0.0515814126, 0.468893021, -0.113576546], [0.211864129, -0.373811185, 0.116370805, 0.0422548577, 0.0619928911, -0.164888591, -0.364371568, -0.105899572], [-0.165453821, 0.365353346, 0.320967913, -0.425014019, 0.221792206, -0.169610724, 0.162252843, -0.170256287], [-0.52034837, 0.359304816, 0.15991056, -0.433345824, -0.668715178, -0.188876644, -0.417844832, -0.128663257], [0.219300926, 0.519399941, -0.126148403, 0.486967832, 0.41165787, -0.15359056, -0.589381695, 0.30178988], [0.21581158, 0.832590401, 5.062090e-01, 0.277311981, 0.597760737, -0.369559228, 0.0696497485, -0.0953013077]]> : tensor<8x8xf32>
    %cst_4 = stablehlo.constant dense<[-0.968377113, 0.81540668, -0.622260034, 0.00583889196, -0.155167505, -0.405034959, 0.0593183972, 1.00760424]> : tensor<8xf32>
    %cst_5 = stablehlo.constant dense<[0.79004097, 1.30316496, 0.221702039, -1.02705646, -0.622202516, 2.23437953, 1.13416445, 0.0558891296]> : tensor<8xf32>
    %cst_6 = stablehlo.constant dense<[0.890838503, 2.02779365, -2.48633552, 0.0519881919, 0.555459261, -1.57023251, 0.316660285, 0.105460607]> : tensor<8xf32>
    %cst_7 = stablehlo.constant dense<"0x9E171E3F6F4B4E3E103A8ABFF820F93EC8F8A2BEFF118E3E0B4D2ABE4213B83D63D4693E56B9943D3185AABE7398FF3E5996143EDBE582BA1F74823EAB623CBEAB1C2C3F4582AE3D115B0A3E08D2033E7216A2BEC564D1BE0942AA3DB932063E1204F73E0A2E2A3E05BFC1BEBB77453EFE41993EFA11B93ECE9BFF3D0AA3D9BEE3BAD53EA70081BE45B5563E48A10CBF0AE88D3E73A18ABE3967C73E9063213FC121D73EC710D0BE7497A7BE93569ABE4A58763ED57E033ECFB47E3D437EEC3D8B10583E8BEA713E3A6E1A3F2F7367BC06B79E3D269E26BF4F04EDBE720B76BE265CD4BE7FD3A83D039BBE3ECDBB19BEFF1F2CBE9EE835BE26E0493D476E42BE801A1D3EDEB1DE3DA5B0FD3D15478B3ECA08513CDF12563D9D911F3F363678BC3BE1903EC854A13CBD8425BEE76125BE248294BE1980833B87F65ABEB08519BEBB8BDC3EDA0843BDD02BCE3ECA48BF3DC1C29B3E29C45DBE227D523DF5596E3F9C54953EF91FB53E3495A63D56919A3E2D1BD3BEB6DA9ABEF27D193EAC80933E268516BECC3B8CBD326405BE233C8DBD3FBCDABE227602BFD0F003BD06311EBF081AB3BE724173BE30DEC0BE639FA23D5ED226BEF0180CBDE8F6B9BE01A489BEF173323E4513F83D093330BE3D19F73DCCA06D3D5265433DC60A0E3FBA9E1ABE3B0A0E3ED2800E3E9636BEBD3A2FD8BE022A6F3EB700A73D548BC93B7F3C68BB"> : tensor<8x16xf32>
    %cst_8 = stablehlo.constant dense<[3.03358555, -1.25847435, 0.228511021, -0.247147277, -0.984882473, 0.214736745, -9.502750e-01, -0.149742603, 1.16814518, -2.09252501, 0.176071271, 0.375158727, -1.02893686, 0.452311516, 0.2799927, -0.42050606]> : tensor<16xf32>
    %cst_9 = stablehlo.constant dense<"0xDEAE56BB45F86DBE83BF823DA0A6EBBEBE1186BC81BAC4BE6AC0C9BD860E2C3E74789BBD047106BE4818EF3D9445A2BD2DB8E9BD3FAEE2BD0916BB3E45FB1C3EE6A2DB3DB5139FBEE6CD103E7874ACBE7C2FD93D45FE95BE25A3F23E4AE2DEBEE7EF943E78063E3E40CEEABEB9C399BD212EB13E7DAD893E5F07DCBE33B914BE710E9EBE87078BBEF03634BE33B2E33EA1C4903CBAD893BD39B9CBBD7E441A3E4298203E6A9F7BBE0B9CB33E60CB92BEC1C5AEBD02A8C53D70AED23EAE54D2BD1D6E623D6B669E3EC8ED0E3E7EF2873EC420793E3481473D40D1103E92FA593E9C27BEBC6F3BC43E774303BF98517CBE9178B03EB556B93DCC7735BEC45FA03D48CC823E139E1FBE530E343E5C023FBD89F835BD199E08BDCC0E863E877D97BE55DADCBD233F193EFB2DA4BE3E7CD2BEC35A013E5A007EBCFCB357BD7E85A13CF38A84BEE358363FFE1086BE2A4DFFBDEF0EBEBE7055F5BD8A3EBB3EC6EB35BC760D083EB6F60BBEFCF5DF3EBFE7CD3C3BE3A7BE6FE6343E47AADDBD3E2A0B3EB2439B3C16E94C3D8BEA953C6B0778BE2365C8BEFC88693EF2E54BBD1D41633D851107BE3A9105BF6C9FABBE1668AA3E317359BECBD5E4BD9B0EC4BE86A217BE8AFCDFBD94D792BDAE890EBD0F8032BEC9F323BE4C1FA4BCD521833DC2FD55BD4075D63EC2590D3D1E96BF3C904D39BEDC7A753EA6C68BBE44E9D7BED2A985BE"> : tensor<16x8xf32>
    %cst_10 = stablehlo.constant dense<[1.14046252, -1.37891293, 0.571542442, -0.305129856, -1.12795281, -0.249139428, -0.420861602, 0.747209966]> : tensor<8xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst_11) applies stablehlo.add across dimensions = [2] : (tensor<1x5x8xf32>, tensor<f32>) -> tensor<1x5xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<1x5xf32>) -> tensor<1x5x1xf32>
    %cst_12 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<1x5x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<1x5x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<1x5x1xf32>) -> tensor<1x5x8xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<1x5x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6 = call @_var(%arg0, %c) : (tensor<1x5x8xf32>, tensor<i32>) -> tensor<1x5x1xf32>
    %cst_13 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<1x5x1xf32>
    %8 = stablehlo.add %6, %7 : tensor<1x5x1xf32>
    %9 = stablehlo.rsqrt %8 : tensor<1x5x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<1x5x1xf32>) -> tensor<1x5x8xf32>
    %11 = stablehlo.multiply %5, %10 : tensor<1x5x8xf32>
    %12 = stablehlo.broadcast_in_dim %cst, dims = [2] : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<1x5x8xf32>
    %14 = stablehlo.multiply %11, %13 : tensor<1x5x8xf32>
    %15 = stablehlo.broadcast_in_dim %cst_0, dims = [2] : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<1x5x8xf32>
    %17 = stablehlo.add %14, %16 : tensor<1x5x8xf32>
    %18 = stablehlo.dot_general %17, %cst_1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x5x8xf32>, tensor<8x24xf32>) -> tensor<1x5x24xf32>
    %19 = stablehlo.broadcast_in_dim %cst_2, dims = [2] : (tensor<24xf32>) -> tensor<1x1x24xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<1x1x24xf32>) -> tensor<1x5x24xf32>
    %21 = stablehlo.add %18, %20 : tensor<1x5x24xf32>
    %22 = stablehlo.reshape %21 : (tensor<1x5x24xf32>) -> tensor<1x5x3x2x4xf32>
    %23 = stablehlo.transpose %22, dims = [2, 0, 3, 1, 4] : (tensor<1x5x3x2x4xf32>) -> tensor<3x1x2x5x4xf32>
    %24 = stablehlo.slice %23 [0:1, 0:1, 0:2, 0:5, 0:4] : (tensor<3x1x2x5x4xf32>) -> tensor<1x1x2x5x4xf32>
    %25 = stablehlo.reshape %24 : (tensor<1x1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
    %26 = stablehlo.slice %23 [1:2, 0:1, 0:2, 0:5, 0:4] : (tensor<3x1x2x5x4xf32>) -> tensor<1x1x2x5x4xf32>
    %27 = stablehlo.reshape %26 : (tensor<1x1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
    %28 = stablehlo.slice %23 [2:3, 0:1, 0:2, 0:5, 0:4] : (tensor<3x1x2x5x4xf32>) -> tensor<1x1x2x5x4xf32>
    %29 = stablehlo.reshape %28 : (tensor<1x1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
    %30 = stablehlo.transpose %27, dims = [0, 1, 3, 2] : (tensor<1x2x5x4xf32>) -> tensor<1x2x4x5xf32>
    %31 = stablehlo.reshape %25 : (tensor<1x2x5x4xf32>) -> tensor<2x5x4xf32>
    %32 = stablehlo.reshape %30 : (tensor<1x2x4x5xf32>) -> tensor<2x4x5xf32>
    %33 = stablehlo.dot_general %31, %32, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x4xf32>, tensor<2x4x5xf32>) -> tensor<2x5x5xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [1, 2, 3] : (tensor<2x5x5xf32>) -> tensor<1x2x5x5xf32>
    %cst_14 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<1x2x5x5xf32>
    %36 = stablehlo.divide %34, %35 : tensor<1x2x5x5xf32>
    %cst_15 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %37 = stablehlo.reduce(%36 init: %cst_15) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x5x5xf32>, tensor<f32>) -> tensor<1x2x5xf32>
    %cst_16 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<1x2x5xf32>
    %39 = stablehlo.maximum %38, %37 : tensor<1x2x5xf32>
    %40 = stablehlo.broadcast_in_dim %39, dims = [0, 1, 2] : (tensor<1x2x5xf32>) -> tensor<1x2x5x1xf32>
    %41 = stablehlo.broadcast_in_dim %40, dims = [0, 1, 2, 3] : (tensor<1x2x5x1xf32>) -> tensor<1x2x5x5xf32>
    %42 = stablehlo.subtract %36, %41 : tensor<1x2x5x5xf32>
    %43 = stablehlo.exponential %42 : tensor<1x2x5x5xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %44 = stablehlo.reduce(%43 init: %cst_17) applies stablehlo.add across dimensions = [3] : (tensor<1x2x5x5xf32>, tensor<f32>) -> tensor<1x2x5xf32>
    %45 = stablehlo.broadcast_in_dim %44, dims = [0, 1, 2] : (tensor<1x2x5xf32>) -> tensor<1x2x5x1xf32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0, 1, 2, 3] : (tensor<1x2x5x1xf32>) -> tensor<1x2x5x5xf32>
    %47 = stablehlo.divide %43, %46 : tensor<1x2x5x5xf32>
    %48 = stablehlo.reshape %47 : (tensor<1x2x5x5xf32>) -> tensor<2x5x5xf32>
    %49 = stablehlo.reshape %29 : (tensor<1x2x5x4xf32>) -> tensor<2x5x4xf32>
    %50 = stablehlo.dot_general %48, %49, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x5xf32>, tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
    %51 = stablehlo.broadcast_in_dim %50, dims = [1, 2, 3] : (tensor<2x5x4xf32>) -> tensor<1x2x5x4xf32>
    %52 = stablehlo.transpose %51, dims = [0, 2, 1, 3] : (tensor<1x2x5x4xf32>) -> tensor<1x5x2x4xf32>
    %53 = stablehlo.reshape %52 : (tensor<1x5x2x4xf32>) -> tensor<1x5x8xf32>
    %54 = stablehlo.dot_general %53, %cst_3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x5x8xf32>, tensor<8x8xf32>) -> tensor<1x5x8xf32>
    %55 = stablehlo.add %arg0, %54 : tensor<1x5x8xf32>
    %56 = stablehlo.broadcast_in_dim %cst_4, dims = [2] : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %57 = stablehlo.broadcast_in_dim %56, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<1x5x8xf32>
    %58 = stablehlo.add %55, %57 : tensor<1x5x8xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %59 = stablehlo.reduce(%58 init: %cst_18) applies stablehlo.add across dimensions = [2] : (tensor<1x5x8xf32>, tensor<f32>) -> tensor<1x5xf32>
    %60 = stablehlo.broadcast_in_dim %59, dims = [0, 1] : (tensor<1x5xf32>) -> tensor<1x5x1xf32>
    %cst_19 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<1x5x1xf32>
    %62 = stablehlo.divide %60, %61 : tensor<1x5x1xf32>
    %63 = stablehlo.broadcast_in_dim %62, dims = [0, 1, 2] : (tensor<1x5x1xf32>) -> tensor<1x5x8xf32>
    %64 = stablehlo.subtract %58, %63 : tensor<1x5x8xf32>
    %c_20 = stablehlo.constant dense<0> : tensor<i32>
    %65 = call @_var(%58, %c_20) : (tensor<1x5x8xf32>, tensor<i32>) -> tensor<1x5x1xf32>
    %cst_21 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %66 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<1x5x1xf32>
    %67 = stablehlo.add %65, %66 : tensor<1x5x1xf32>
    %68 = stablehlo.rsqrt %67 : tensor<1x5x1xf32>
    %69 = stablehlo.broadcast_in_dim %68, dims = [0, 1, 2] : (tensor<1x5x1xf32>) -> tensor<1x5x8xf32>
    %70 = stablehlo.multiply %64, %69 : tensor<1x5x8xf32>
    %71 = stablehlo.broadcast_in_dim %cst_5, dims = [2] : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %72 = stablehlo.broadcast_in_dim %71, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<1x5x8xf32>
    %73 = stablehlo.multiply %70, %72 : tensor<1x5x8xf32>
    %74 = stablehlo.broadcast_in_dim %cst_6, dims = [2] : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %75 = stablehlo.broadcast_in_dim %74, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<1x5x8xf32>
    %76 = stablehlo.add %73, %75 : tensor<1x5x8xf32>
    %77 = stablehlo.dot_general %76, %cst_7, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x5x8xf32>, tensor<8x16xf32>) -> tensor<1x5x16xf32>
    %78 = stablehlo.broadcast_in_dim %cst_8, dims = [2] : (tensor<16xf32>) -> tensor<1x1x16xf32>
    %79 = stablehlo.broadcast_in_dim %78, dims = [0, 1, 2] : (tensor<1x1x16xf32>) -> tensor<1x5x16xf32>
    %80 = stablehlo.add %77, %79 : tensor<1x5x16xf32>
    %cst_22 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %81 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<1x5x16xf32>
    %82 = stablehlo.multiply %81, %80 : tensor<1x5x16xf32>
    %83 = stablehlo.negate %80 : tensor<1x5x16xf32>
    %cst_23 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %84 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<1x5x16xf32>
    %85 = stablehlo.multiply %83, %84 : tensor<1x5x16xf32>
    %86 = chlo.erfc %85 : tensor<1x5x16xf32> -> tensor<1x5x16xf32>
    %87 = stablehlo.multiply %82, %86 : tensor<1x5x16xf32>
    %88 = stablehlo.dot_general %87, %cst_9, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x5x16xf32>, tensor<16x8xf32>) -> tensor<1x5x8xf32>
    %89 = stablehlo.add %58, %88 : tensor<1x5x8xf32>
    %90 = stablehlo.broadcast_in_dim %cst_10, dims = [2] : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %91 = stablehlo.broadcast_in_dim %90, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<1x5x8xf32>
    %92 = stablehlo.add %89, %91 : tensor<1x5x8xf32>
    return %92 : tensor<1x5x8xf32>
  }
  func.func private @_var(%arg0: tensor<1x5x8xf32>, %arg1: tensor<i32>) -> tensor<1x5x1xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<1x5x8xf32>, tensor<f32>) -> tensor<1x5xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<1x5xf32>) -> tensor<1x5x1xf32>
    %cst_0 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x5x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<1x5x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<1x5x1xf32>) -> tensor<1x5x8xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<1x5x8xf32>
    %6 = chlo.square %5 : tensor<1x5x8xf32> -> tensor<1x5x8xf32>
    %7 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %8 = stablehlo.subtract %cst_1, %7 : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<1x5x8xf32>, tensor<f32>) -> tensor<1x5xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<1x5xf32>) -> tensor<1x5x1xf32>
    %11 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<1x5x1xf32>
    %12 = stablehlo.divide %10, %11 : tensor<1x5x1xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.compare GT, %8, %cst_3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = call @_where(%13, %12, %cst_4) : (tensor<i1>, tensor<1x5x1xf32>, tensor<f32>) -> tensor<1x5x1xf32>
    return %14 : tensor<1x5x1xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<1x5x1xf32>, %arg2: tensor<f32>) -> tensor<1x5x1xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x5x1xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<1x5x1xf32>
    return %2 : tensor<1x5x1xf32>
  }
}

"builtin.module"() <{sym_name = "jit_network"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<1x5x8xf32>) -> tensor<1x5x8xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg9: tensor<1x5x8xf32>):
    %26 = "stablehlo.constant"() <{value = dense<[-0.566830873, 0.733717203, 0.472669244, 2.5011065, -0.189996481, 1.98651624, -0.828929901, 1.27081645]> : tensor<8xf32>}> : () -> tensor<8xf32>
    %27 = "stablehlo.constant"() <{value = dense<[0.819034159, -0.826699376, -0.821276366, -1.29607439, 1.09360361, 1.8779273, -1.04923499, 0.203187257]> : tensor<8xf32>}> : () -> tensor<8xf32>
    %28 = "stablehlo.constant"() <{value = dense<"0xCB55A33EDB05FE3EACD31C3F2C0CFBBD704CE2BEDDD171BF59330CBEA19E893E55FB083EA0CE263DC191FDBDB9B367BEF566CDBD09D30C3ECAB61FBFEEF2833E2D0104BFCD2B65BD5DB865BEBEC805BE28AABDBE3835D1BE12FBA8BD76F4C4BEBD395E3FF16D18BE25886FBE2D1849BE7E18C3BEB3E75EBF4915BEBDF1E2DB3D88BC08BFD9CD0BBAC046DCBEBCD578BC70D0FE3D89102D3E79CF1A3E5ADD80BE36E79D3E9A1625BEF697F73D2F267C3E2F31E2BD5A06EABEF4105B3EEEC5CBBE93DAA2BEEC28C9BE27F3963EEB1C79BD40544CBF3369833E0B9F3A3F2D1A223F25F050BE9C0FC53C3DCC343E9EFF9F3E2C7C113CE4E7C7BEC3D0863E13125B3E12B7F2BE53B408BEA31EBB3D6FD49CBB22E8393E91058E3E7016403E17AD36BD9043F6BEDBBE5A3E8F8AFB3EB0C0313F180C83BC23788ABCF5D0013FAD1D013F7890ED3D936D7D3ECF2B8CBE3FB94E3ED4F597BEB8BC65BD8FFC45BDE1B02EBE096540BFF21998BE4B24E73D8A0CD9BCA8A313BEFC17163EF639743E97DB963E00C794BE3872103BFA3BFDBD08DFA1BE17EC08BFD6F625BDF3FEA0BE5F69413F25E026BD2099AEBD71FF15BEB03F283F1F83ADBE84A780BD07588EBED0B64CBD210D98BC38E6C33E06B201BF1BFE59BC71C9103F48A43EBE2FAB8CBDEA99A3BEA6806EBF2FE02FBDC9C4D13EF5772FBECBA828BFB2AFB43D8CF1B33C4C09B23E02C2A13E9FE4CFBD4AA30A3EB66424BFA58DC63E26B2743D6861C13EE24DBD3EA55EDCBDB90571BD816DA1BE50903CBF01BC57BD20E2453D1DA1C7BEFB8B7B3E36F6EB3C83121E3E7A658EBE843E21BFC6BD893E880D573ED7A237BD8A9C1EBE7FE4D4BD28ED5EBD455E3EBEDE8C37BFF0E38A3E1FD408BF7549FDBDCA51EABD1BF4B03D918913BF398FD73E88A6673EB29D883E10C2E23EF10893BE637D8EBF00E4E73D5B78EB3E8176D03E3F7C45BE27DF11BDB1C8C83DBB5024BF4C2D74BE3BE168BE78C00E3F3AED6DBE30B70D3F6BF6513BD91918BF6F6E483FDC62B0BE15485F3E435F1A3F6EBE41BE09C2DEBE416DBC3E0378BD3CC42BDEBEE9B7C3BE"> : tensor<8x24xf32>}> : () -> tensor<8x24xf32>
    %29 = "stablehlo.constant"() <{value = dense<[0.549758554, -1.21399033, 1.22406077, -0.0926705748, -1.58631301, -0.299464852, 1.7128576, -0.930771529, -1.38066518, 0.441325843, 1.23506689, 0.944998621, -0.399927616, 0.116131939, 0.253497899, 1.10248375, 2.07708573, -0.179339483, 1.22768223, -0.415562749, 0.517399132, -1.00480199, -0.835634648, 0.343584418]> : tensor<24xf32>}> : () -> tensor<24xf32>
    %30 = "stablehlo.constant"() <{value = dense<[[-0.137766093, 0.340832442, -0.101490341, 0.231407791, 0.584322572, 0.448809534, 0.508260846, 0.435544431], [-0.568700194, 0.432375818, 0.116156623, -0.0439812876, -0.383481354, -0.561799049, -0.392833114, -0.00755331293], [-0.415456325, -0.28866744, -0.218039408, 0.235656992, -0.104361825, -0.0515814126, 0.468893021, -0.113576546], [0.211864129, -0.373811185, 0.116370805, 0.0422548577, 0.0619928911, -0.164888591, -0.364371568, -0.105899572], [-0.165453821, 0.365353346, 0.320967913, -0.425014019, 0.221792206, -0.169610724, 0.162252843, -0.170256287], [-0.52034837, 0.359304816, 0.15991056, -0.433345824, -0.668715178, -0.188876644, -0.417844832, -0.128663257], [0.219300926, 0.519399941, -0.126148403, 0.486967832, 0.41165787, -0.15359056, -0.589381695, 0.30178988], [0.21581158, 0.832590401, 5.062090e-01, 0.277311981, 0.597760737, -0.369559228, 0.0696497485, -0.0953013077]]> : tensor<8x8xf32>}> : () -> tensor<8x8xf32>
    %31 = "stablehlo.constant"() <{value = dense<[-0.968377113, 0.81540668, -0.622260034, 0.00583889196, -0.155167505, -0.405034959, 0.0593183972, 1.00760424]> : tensor<8xf32>}> : () -> tensor<8xf32>
    %32 = "stablehlo.constant"() <{value = dense<[0.79004097, 1.30316496, 0.221702039, -1.02705646, -0.622202516, 2.23437953, 1.13416445, 0.0558891296]> : tensor<8xf32>}> : () -> tensor<8xf32>
    %33 = "stablehlo.constant"() <{value = dense<[0.890838503, 2.02779365, -2.48633552, 0.0519881919, 0.555459261, -1.57023251, 0.316660285, 0.105460607]> : tensor<8xf32>}> : () -> tensor<8xf32>
    %34 = "stablehlo.constant"() <{value = dense<"0x9E171E3F6F4B4E3E103A8ABFF820F93EC8F8A2BEFF118E3E0B4D2ABE4213B83D63D4693E56B9943D3185AABE7398FF3E5996143EDBE582BA1F74823EAB623CBEAB1C2C3F4582AE3D115B0A3E08D2033E7216A2BEC564D1BE0942AA3DB932063E1204F73E0A2E2A3E05BFC1BEBB77453EFE41993EFA11B93ECE9BFF3D0AA3D9BEE3BAD53EA70081BE45B5563E48A10CBF0AE88D3E73A18ABE3967C73E9063213FC121D73EC710D0BE7497A7BE93569ABE4A58763ED57E033ECFB47E3D437EEC3D8B10583E8BEA713E3A6E1A3F2F7367BC06B79E3D269E26BF4F04EDBE720B76BE265CD4BE7FD3A83D039BBE3ECDBB19BEFF1F2CBE9EE835BE26E0493D476E42BE801A1D3EDEB1DE3DA5B0FD3D15478B3ECA08513CDF12563D9D911F3F363678BC3BE1903EC854A13CBD8425BEE76125BE248294BE1980833B87F65ABEB08519BEBB8BDC3EDA0843BDD02BCE3ECA48BF3DC1C29B3E29C45DBE227D523DF5596E3F9C54953EF91FB53E3495A63D56919A3E2D1BD3BEB6DA9ABEF27D193EAC80933E268516BECC3B8CBD326405BE233C8DBD3FBCDABE227602BFD0F003BD06311EBF081AB3BE724173BE30DEC0BE639FA23D5ED226BEF0180CBDE8F6B9BE01A489BEF173323E4513F83D093330BE3D19F73DCCA06D3D5265433DC60A0E3FBA9E1ABE3B0A0E3ED2800E3E9636BEBD3A2FD8BE022A6F3EB700A73D548BC93B7F3C68BB"> : tensor<8x16xf32>}> : () -> tensor<8x16xf32>
    %35 = "stablehlo.constant"() <{value = dense<[3.03358555, -1.25847435, 0.228511021, -0.247147277, -0.984882473, 0.214736745, -9.502750e-01, -0.149742603, 1.16814518, -2.09252501, 0.176071271, 0.375158727, -1.02893686, 0.452311516, 0.2799927, -0.42050606]> : tensor<16xf32>}> : () -> tensor<16xf32>
    %36 = "stablehlo.constant"() <{value = dense<"0xDEAE56BB45F86DBE83BF823DA0A6EBBEBE1186BC81BAC4BE6AC0C9BD860E2C3E74789BBD047106BE4818EF3D9445A2BD2DB8E9BD3FAEE2BD0916BB3E45FB1C3EE6A2DB3DB5139FBEE6CD103E7874ACBE7C2FD93D45FE95BE25A3F23E4AE2DEBEE7EF943E78063E3E40CEEABEB9C399BD212EB13E7DAD893E5F07DCBE33B914BE710E9EBE87078BBEF03634BE33B2E33EA1C4903CBAD893BD39B9CBBD7E441A3E4298203E6A9F7BBE0B9CB33E60CB92BEC1C5AEBD02A8C53D70AED23EAE54D2BD1D6E623D6B669E3EC8ED0E3E7EF2873EC420793E3481473D40D1103E92FA593E9C27BEBC6F3BC43E774303BF98517CBE9178B03EB556B93DCC7735BEC45FA03D48CC823E139E1FBE530E343E5C023FBD89F835BD199E08BDCC0E863E877D97BE55DADCBD233F193EFB2DA4BE3E7CD2BEC35A013E5A007EBCFCB357BD7E85A13CF38A84BEE358363FFE1086BE2A4DFFBDEF0EBEBE7055F5BD8A3EBB3EC6EB35BC760D083EB6F60BBEFCF5DF3EBFE7CD3C3BE3A7BE6FE6343E47AADDBD3E2A0B3EB2439B3C16E94C3D8BEA953C6B0778BE2365C8BEFC88693EF2E54BBD1D41633D851107BE3A9105BF6C9FABBE1668AA3E317359BECBD5E4BD9B0EC4BE86A217BE8AFCDFBD94D792BDAE890EBD0F8032BEC9F323BE4C1FA4BCD521833DC2FD55BD4075D63EC2590D3D1E96BF3C904D39BEDC7A753EA6C68BBE44E9D7BED2A985BE"> : tensor<16x8xf32>}> : () -> tensor<16x8xf32>
    %37 = "stablehlo.constant"() <{value = dense<[1.14046252, -1.37891293, 0.571542442, -0.305129856, -1.12795281, -0.249139428, -0.420861602, 0.747209966]> : tensor<8xf32>}> : () -> tensor<8xf32>
    %38 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %39 = "stablehlo.reduce"(%arg9, %38) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg16: tensor<f32>, %arg17: tensor<f32>):
      %148 = "stablehlo.add"(%arg16, %arg17) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%148) : (tensor<f32>) -> ()
    }) : (tensor<1x5x8xf32>, tensor<f32>) -> tensor<1x5xf32>
    %40 = "stablehlo.broadcast_in_dim"(%39) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x5xf32>) -> tensor<1x5x1xf32>
    %41 = "stablehlo.constant"() <{value = dense<8.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %42 = "stablehlo.broadcast_in_dim"(%41) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x5x1xf32>
    %43 = "stablehlo.divide"(%40, %42) : (tensor<1x5x1xf32>, tensor<1x5x1xf32>) -> tensor<1x5x1xf32>
    %44 = "stablehlo.broadcast_in_dim"(%43) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x5x1xf32>) -> tensor<1x5x8xf32>
    %45 = "stablehlo.subtract"(%arg9, %44) : (tensor<1x5x8xf32>, tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
    %46 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %47 = "func.call"(%arg9, %46) <{callee = @_var}> : (tensor<1x5x8xf32>, tensor<i32>) -> tensor<1x5x1xf32>
    %48 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %49 = "stablehlo.broadcast_in_dim"(%48) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x5x1xf32>
    %50 = "stablehlo.add"(%47, %49) : (tensor<1x5x1xf32>, tensor<1x5x1xf32>) -> tensor<1x5x1xf32>
    %51 = "stablehlo.rsqrt"(%50) : (tensor<1x5x1xf32>) -> tensor<1x5x1xf32>
    %52 = "stablehlo.broadcast_in_dim"(%51) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x5x1xf32>) -> tensor<1x5x8xf32>
    %53 = "stablehlo.multiply"(%45, %52) : (tensor<1x5x8xf32>, tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
    %54 = "stablehlo.broadcast_in_dim"(%26) <{broadcast_dimensions = array<i64: 2>}> : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %55 = "stablehlo.broadcast_in_dim"(%54) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x8xf32>) -> tensor<1x5x8xf32>
    %56 = "stablehlo.multiply"(%53, %55) : (tensor<1x5x8xf32>, tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
    %57 = "stablehlo.broadcast_in_dim"(%27) <{broadcast_dimensions = array<i64: 2>}> : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %58 = "stablehlo.broadcast_in_dim"(%57) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x8xf32>) -> tensor<1x5x8xf32>
    %59 = "stablehlo.add"(%56, %58) : (tensor<1x5x8xf32>, tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
    %60 = "stablehlo.dot_general"(%59, %28) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x5x8xf32>, tensor<8x24xf32>) -> tensor<1x5x24xf32>
    %61 = "stablehlo.broadcast_in_dim"(%29) <{broadcast_dimensions = array<i64: 2>}> : (tensor<24xf32>) -> tensor<1x1x24xf32>
    %62 = "stablehlo.broadcast_in_dim"(%61) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x24xf32>) -> tensor<1x5x24xf32>
    %63 = "stablehlo.add"(%60, %62) : (tensor<1x5x24xf32>, tensor<1x5x24xf32>) -> tensor<1x5x24xf32>
    %64 = "stablehlo.reshape"(%63) : (tensor<1x5x24xf32>) -> tensor<1x5x3x2x4xf32>
    %65 = "stablehlo.transpose"(%64) <{permutation = array<i64: 2, 0, 3, 1, 4>}> : (tensor<1x5x3x2x4xf32>) -> tensor<3x1x2x5x4xf32>
    %66 = "stablehlo.slice"(%65) <{limit_indices = array<i64: 1, 1, 2, 5, 4>, start_indices = array<i64: 0, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>}> : (tensor<3x1x2x5x4xf32>) -> tensor<1x1x2x5x4xf32>
    %67 = "stablehlo.reshape"(%66) : (tensor<1x1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
    %68 = "stablehlo.slice"(%65) <{limit_indices = array<i64: 2, 1, 2, 5, 4>, start_indices = array<i64: 1, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>}> : (tensor<3x1x2x5x4xf32>) -> tensor<1x1x2x5x4xf32>
    %69 = "stablehlo.reshape"(%68) : (tensor<1x1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
    %70 = "stablehlo.slice"(%65) <{limit_indices = array<i64: 3, 1, 2, 5, 4>, start_indices = array<i64: 2, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>}> : (tensor<3x1x2x5x4xf32>) -> tensor<1x1x2x5x4xf32>
    %71 = "stablehlo.reshape"(%70) : (tensor<1x1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
    %72 = "stablehlo.transpose"(%69) <{permutation = array<i64: 0, 1, 3, 2>}> : (tensor<1x2x5x4xf32>) -> tensor<1x2x4x5xf32>
    %73 = "stablehlo.reshape"(%67) : (tensor<1x2x5x4xf32>) -> tensor<2x5x4xf32>
    %74 = "stablehlo.reshape"(%72) : (tensor<1x2x4x5xf32>) -> tensor<2x4x5xf32>
    %75 = "stablehlo.dot_general"(%73, %74) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x5x4xf32>, tensor<2x4x5xf32>) -> tensor<2x5x5xf32>
    %76 = "stablehlo.broadcast_in_dim"(%75) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<2x5x5xf32>) -> tensor<1x2x5x5xf32>
    %77 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %78 = "stablehlo.broadcast_in_dim"(%77) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2x5x5xf32>
    %79 = "stablehlo.divide"(%76, %78) : (tensor<1x2x5x5xf32>, tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
    %80 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %81 = "stablehlo.reduce"(%79, %80) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg14: tensor<f32>, %arg15: tensor<f32>):
      %147 = "stablehlo.maximum"(%arg14, %arg15) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%147) : (tensor<f32>) -> ()
    }) : (tensor<1x2x5x5xf32>, tensor<f32>) -> tensor<1x2x5xf32>
    %82 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %83 = "stablehlo.broadcast_in_dim"(%82) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2x5xf32>
    %84 = "stablehlo.maximum"(%83, %81) : (tensor<1x2x5xf32>, tensor<1x2x5xf32>) -> tensor<1x2x5xf32>
    %85 = "stablehlo.broadcast_in_dim"(%84) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x2x5xf32>) -> tensor<1x2x5x1xf32>
    %86 = "stablehlo.broadcast_in_dim"(%85) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x2x5x1xf32>) -> tensor<1x2x5x5xf32>
    %87 = "stablehlo.subtract"(%79, %86) : (tensor<1x2x5x5xf32>, tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
    %88 = "stablehlo.exponential"(%87) : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
    %89 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %90 = "stablehlo.reduce"(%88, %89) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg12: tensor<f32>, %arg13: tensor<f32>):
      %146 = "stablehlo.add"(%arg12, %arg13) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%146) : (tensor<f32>) -> ()
    }) : (tensor<1x2x5x5xf32>, tensor<f32>) -> tensor<1x2x5xf32>
    %91 = "stablehlo.broadcast_in_dim"(%90) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x2x5xf32>) -> tensor<1x2x5x1xf32>
    %92 = "stablehlo.broadcast_in_dim"(%91) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x2x5x1xf32>) -> tensor<1x2x5x5xf32>
    %93 = "stablehlo.divide"(%88, %92) : (tensor<1x2x5x5xf32>, tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
    %94 = "stablehlo.reshape"(%93) : (tensor<1x2x5x5xf32>) -> tensor<2x5x5xf32>
    %95 = "stablehlo.reshape"(%71) : (tensor<1x2x5x4xf32>) -> tensor<2x5x4xf32>
    %96 = "stablehlo.dot_general"(%94, %95) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x5x5xf32>, tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
    %97 = "stablehlo.broadcast_in_dim"(%96) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<2x5x4xf32>) -> tensor<1x2x5x4xf32>
    %98 = "stablehlo.transpose"(%97) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<1x2x5x4xf32>) -> tensor<1x5x2x4xf32>
    %99 = "stablehlo.reshape"(%98) : (tensor<1x5x2x4xf32>) -> tensor<1x5x8xf32>
    %100 = "stablehlo.dot_general"(%99, %30) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x5x8xf32>, tensor<8x8xf32>) -> tensor<1x5x8xf32>
    %101 = "stablehlo.add"(%arg9, %100) : (tensor<1x5x8xf32>, tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
    %102 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64: 2>}> : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %103 = "stablehlo.broadcast_in_dim"(%102) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x8xf32>) -> tensor<1x5x8xf32>
    %104 = "stablehlo.add"(%101, %103) : (tensor<1x5x8xf32>, tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
    %105 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %106 = "stablehlo.reduce"(%104, %105) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
      %145 = "stablehlo.add"(%arg10, %arg11) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%145) : (tensor<f32>) -> ()
    }) : (tensor<1x5x8xf32>, tensor<f32>) -> tensor<1x5xf32>
    %107 = "stablehlo.broadcast_in_dim"(%106) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x5xf32>) -> tensor<1x5x1xf32>
    %108 = "stablehlo.constant"() <{value = dense<8.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %109 = "stablehlo.broadcast_in_dim"(%108) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x5x1xf32>
    %110 = "stablehlo.divide"(%107, %109) : (tensor<1x5x1xf32>, tensor<1x5x1xf32>) -> tensor<1x5x1xf32>
    %111 = "stablehlo.broadcast_in_dim"(%110) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x5x1xf32>) -> tensor<1x5x8xf32>
    %112 = "stablehlo.subtract"(%104, %111) : (tensor<1x5x8xf32>, tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
    %113 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %114 = "func.call"(%104, %113) <{callee = @_var}> : (tensor<1x5x8xf32>, tensor<i32>) -> tensor<1x5x1xf32>
    %115 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %116 = "stablehlo.broadcast_in_dim"(%115) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x5x1xf32>
    %117 = "stablehlo.add"(%114, %116) : (tensor<1x5x1xf32>, tensor<1x5x1xf32>) -> tensor<1x5x1xf32>
    %118 = "stablehlo.rsqrt"(%117) : (tensor<1x5x1xf32>) -> tensor<1x5x1xf32>
    %119 = "stablehlo.broadcast_in_dim"(%118) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x5x1xf32>) -> tensor<1x5x8xf32>
    %120 = "stablehlo.multiply"(%112, %119) : (tensor<1x5x8xf32>, tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
    %121 = "stablehlo.broadcast_in_dim"(%32) <{broadcast_dimensions = array<i64: 2>}> : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %122 = "stablehlo.broadcast_in_dim"(%121) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x8xf32>) -> tensor<1x5x8xf32>
    %123 = "stablehlo.multiply"(%120, %122) : (tensor<1x5x8xf32>, tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
    %124 = "stablehlo.broadcast_in_dim"(%33) <{broadcast_dimensions = array<i64: 2>}> : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %125 = "stablehlo.broadcast_in_dim"(%124) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x8xf32>) -> tensor<1x5x8xf32>
    %126 = "stablehlo.add"(%123, %125) : (tensor<1x5x8xf32>, tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
    %127 = "stablehlo.dot_general"(%126, %34) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x5x8xf32>, tensor<8x16xf32>) -> tensor<1x5x16xf32>
    %128 = "stablehlo.broadcast_in_dim"(%35) <{broadcast_dimensions = array<i64: 2>}> : (tensor<16xf32>) -> tensor<1x1x16xf32>
    %129 = "stablehlo.broadcast_in_dim"(%128) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x16xf32>) -> tensor<1x5x16xf32>
    %130 = "stablehlo.add"(%127, %129) : (tensor<1x5x16xf32>, tensor<1x5x16xf32>) -> tensor<1x5x16xf32>
    %131 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %132 = "stablehlo.broadcast_in_dim"(%131) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x5x16xf32>
    %133 = "stablehlo.multiply"(%132, %130) : (tensor<1x5x16xf32>, tensor<1x5x16xf32>) -> tensor<1x5x16xf32>
    %134 = "stablehlo.negate"(%130) : (tensor<1x5x16xf32>) -> tensor<1x5x16xf32>
    %135 = "stablehlo.constant"() <{value = dense<0.707106769> : tensor<f32>}> : () -> tensor<f32>
    %136 = "stablehlo.broadcast_in_dim"(%135) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x5x16xf32>
    %137 = "stablehlo.multiply"(%134, %136) : (tensor<1x5x16xf32>, tensor<1x5x16xf32>) -> tensor<1x5x16xf32>
    %138 = "chlo.erfc"(%137) : (tensor<1x5x16xf32>) -> tensor<1x5x16xf32>
    %139 = "stablehlo.multiply"(%133, %138) : (tensor<1x5x16xf32>, tensor<1x5x16xf32>) -> tensor<1x5x16xf32>
    %140 = "stablehlo.dot_general"(%139, %36) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x5x16xf32>, tensor<16x8xf32>) -> tensor<1x5x8xf32>
    %141 = "stablehlo.add"(%104, %140) : (tensor<1x5x8xf32>, tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
    %142 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64: 2>}> : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %143 = "stablehlo.broadcast_in_dim"(%142) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x8xf32>) -> tensor<1x5x8xf32>
    %144 = "stablehlo.add"(%141, %143) : (tensor<1x5x8xf32>, tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
    "func.return"(%144) : (tensor<1x5x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<1x5x8xf32>, tensor<i32>) -> tensor<1x5x1xf32>, res_attrs = [{}], sym_name = "_var", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<1x5x8xf32>, %arg4: tensor<i32>):
    %3 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %4 = "stablehlo.reduce"(%arg3, %3) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
      %25 = "stablehlo.add"(%arg7, %arg8) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%25) : (tensor<f32>) -> ()
    }) : (tensor<1x5x8xf32>, tensor<f32>) -> tensor<1x5xf32>
    %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x5xf32>) -> tensor<1x5x1xf32>
    %6 = "stablehlo.constant"() <{value = dense<8.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x5x1xf32>
    %8 = "stablehlo.divide"(%5, %7) : (tensor<1x5x1xf32>, tensor<1x5x1xf32>) -> tensor<1x5x1xf32>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x5x1xf32>) -> tensor<1x5x8xf32>
    %10 = "stablehlo.subtract"(%arg3, %9) : (tensor<1x5x8xf32>, tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
    %11 = "chlo.square"(%10) : (tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
    %12 = "stablehlo.convert"(%arg4) : (tensor<i32>) -> tensor<f32>
    %13 = "stablehlo.constant"() <{value = dense<8.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %14 = "stablehlo.subtract"(%13, %12) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %15 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %16 = "stablehlo.reduce"(%11, %15) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %24 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%24) : (tensor<f32>) -> ()
    }) : (tensor<1x5x8xf32>, tensor<f32>) -> tensor<1x5xf32>
    %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x5xf32>) -> tensor<1x5x1xf32>
    %18 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x5x1xf32>
    %19 = "stablehlo.divide"(%17, %18) : (tensor<1x5x1xf32>, tensor<1x5x1xf32>) -> tensor<1x5x1xf32>
    %20 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %21 = "stablehlo.compare"(%14, %20) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %22 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
    %23 = "func.call"(%21, %19, %22) <{callee = @_where}> : (tensor<i1>, tensor<1x5x1xf32>, tensor<f32>) -> tensor<1x5x1xf32>
    "func.return"(%23) : (tensor<1x5x1xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<i1>, tensor<1x5x1xf32>, tensor<f32>) -> tensor<1x5x1xf32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i1>, %arg1: tensor<1x5x1xf32>, %arg2: tensor<f32>):
    %0 = "stablehlo.convert"(%arg2) : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x5x1xf32>
    %2 = "stablehlo.select"(%arg0, %arg1, %1) : (tensor<i1>, tensor<1x5x1xf32>, tensor<1x5x1xf32>) -> tensor<1x5x1xf32>
    "func.return"(%2) : (tensor<1x5x1xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

"builtin.module"() <{sym_name = "jit_network"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<1x5x8xf32>) -> tensor<1x5x8xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg9: tensor<1x5x8xf32>):
    %26 = "stablehlo.constant"() <{value = dense<[1.62732327, 0.0170987844, 2.40319967, -0.146831512, 0.658647537, 1.38604736, 2.64594841, 0.589197695]> : tensor<8xf32>}> : () -> tensor<8xf32>
    %27 = "stablehlo.constant"() <{value = dense<"0x276D1BBEB6F7183F46137C3E1C97A93E20005CBE411DB9BE63D4CCBD13BAB03D7C0BFABDA64A88BD1809AE3E52A9D83D3020B2BEC9F31ABE0E0E6EBE6D03833D8E4BD3BE4A6D81BD5BC37A3E1063263CE76DA5BE6D2A5FBE5914343DEAE42E3EA286973EE24952BD9B72EEBEC1F9003F56B1D73D8303133EB937DD3D4ACEBBBE8033E7BD6C46BA3DF8ECBA3E254EAE3C58318DBFCAC1AEBD4E59FF3D0D38EA3E12C3803E5263613FB0EA003F05F4F33EA9A9AA3E5D3FFABE2055993E5409593E95703EBE7763543E2A5B173EE65A28BE8EB032BD54A5BEBD7BE2A63D74B619BE9747453E6C8F2DBF4923CCBD027B18BF09D42EBEAA263B3E8161FA3B883720BD763EC73C150E0E3FC440C8BE66B2A03E96E708BF513B29BE19EA6C3DAC2B9ABE0B89943D4CE8833E2A17D8BEC717E0BCE05408BE9D9F2FBFC77487BD736990BE7766F23E697E9EBE94D1193FDD2041BEB86B2F3F9847433E5E4F243E8ED9913ECB55A33EDB05FE3EACD31C3F2C0CFBBD704CE2BEDDD171BF59330CBEA19E893E55FB083EA0CE263DC191FDBDB9B367BEF566CDBD09D30C3ECAB61FBFEEF2833E2D0104BFCD2B65BD5DB865BEBEC805BE28AABDBE3835D1BE12FBA8BD76F4C4BEBD395E3FF16D18BE25886FBE2D1849BE7E18C3BEB3E75EBF4915BEBDF1E2DB3D88BC08BFD9CD0BBAC046DCBEBCD578BC70D0FE3D89102D3E79CF1A3E5ADD80BE36E79D3E9A1625BEF697F73D2F267C3E2F31E2BD5A06EABEF4105B3EEEC5CBBE93DAA2BEEC28C9BE27F3963EEB1C79BD40544CBF3369833E0B9F3A3F2D1A223F25F050BE9C0FC53C3DCC343E9EFF9F3E2C7C113CE4E7C7BEC3D0863E13125B3E12B7F2BE53B408BEA31EBB3D6FD49CBB22E8393E91058E3E7016403E17AD36BD9043F6BEDBBE5A3E8F8AFB3EB0C0313F180C83BC23788ABCF5D0013FAD1D013F7890ED3D936D7D3ECF2B8CBE3FB94E3ED4F597BEB8BC65BD8FFC45BDE1B02EBE096540BFF21998BE4B24E73D8A0CD9BCA8A313BEFC17163EF639743E97DB963E00C794BE3872103BFA3BFDBD08DFA1BE17EC08BFD6F625BDF3FEA0BE5F69413F"> : tensor<8x24xf32>}> : () -> tensor<8x24xf32>
    %28 = "stablehlo.constant"() <{value = dense<[[-0.0407411046, -8.525300e-02, -0.146482244, 0.657221794, -3.388910e-01, -0.0628195106, -0.278015345, -0.0499790311], [-0.0185609479, 0.382615805, -0.506622672, -0.0133052124, 0.565573752, -0.186173558, -0.0686858818, -0.319533646], [-0.931650519, -0.0429384075, 0.409704477, -0.171356037, -0.658825576, 0.0882257372, 0.0219657645, 0.34772718], [0.315933287, -0.101510279, 0.135388523, -0.642161727, 0.387799412, 0.0597402081, 0.377696276, 0.369734824], [-0.107602395, -0.0588433482, -0.315288574, -0.736577034, -0.0526695289, 0.0483113527, -0.389901072, 0.245651171], [0.028803926, 0.154367492, -0.278117955, -0.629860163, 0.269025981, 0.210012555, -0.0448330306, -0.154894024], [-0.103951447, -0.0544253886, -0.185906485, -0.716993213, 0.271270275, -0.534486711, -0.123675264, -0.114413813], [0.0864030942, -0.576317847, 0.421014577, 0.226221204, 0.26682812, 0.442886829, -0.287177593, -1.1132015]]> : tensor<8x8xf32>}> : () -> tensor<8x8xf32>
    %29 = "stablehlo.constant"() <{value = dense<"0x00E4E73D5B78EB3E8176D03E3F7C45BE27DF11BDB1C8C83DBB5024BF4C2D74BE3BE168BE78C00E3F3AED6DBE30B70D3F6BF6513BD91918BF6F6E483FDC62B0BE15485F3E435F1A3F6EBE41BE09C2DEBE416DBC3E0378BD3CC42BDEBEE9B7C3BE8E120DBE9781AE3E2BDACFBD2AF66C3E2A96153F5DCAE53E621D023FAEFFDE3E569611BF5D60DD3E86E3ED3DB92534BDAB57C4BE10D20FBF6C21C9BEC881F7BBB1B6D4BE38CC93BEB9455FBE1150713EA7BBD5BD084753BDBF12F03ED29AE8BDE9F2583E2E64BFBED153EE3D6E132D3D42EC7D3D8ED828BEE98EBABEE0E1D8BDBA6C29BE980FBB3EE855A43E709BD9BE7F1D633E6FAE2DBE9C25263EAA572EBE8D3505BFCDF6B73E98BF233E81DFDDBEEB302BBFE16841BEC2EFD5BE4DC003BE6C90603E65F7043F0C2D01BED953F93ED2C4D23ED8461DBEB8E116BF34849A3EB6FD5C3EA524553FEA96013FD6FB8D3ED906193FDE36BDBE87A48E3D552DC3BD9E171E3F6F4B4E3E103A8ABFF820F93EC8F8A2BEFF118E3E0B4D2ABE4213B83D63D4693E56B9943D3185AABE7398FF3E5996143EDBE582BA1F74823EAB623CBEAB1C2C3F4582AE3D115B0A3E08D2033E7216A2BEC564D1BE0942AA3DB932063E1204F73E0A2E2A3E05BFC1BEBB77453EFE41993EFA11B93ECE9BFF3D0AA3D9BEE3BAD53EA70081BE45B5563E48A10CBF0AE88D3E73A18ABE3967C73E9063213F"> : tensor<8x16xf32>}> : () -> tensor<8x16xf32>
    %30 = "stablehlo.constant"() <{value = dense<"0x061F983EE31F93BEA6026DBE64445ABE30312E3E6FF6B93DC31A343DD839A73DE0C7183E820F2B3ED665DA3EEAA823BCF274603D14A2EBBEA198A7BED9FA2DBE422996BE99C16E3D49C7863E8369D9BDE66BF3BDFCA000BE62BF0E3DBB7B09BE8C2DDE3D10789D3DCC62B33DE7F7443E42CF133C7C5F173D14AAE13E20832FBC18E44C3E1F28643C1A14EABDD5E2E9BDC50552BE39F8393B89D41ABEFB1CD9BD0FF39B3E08E909BDF6C8913E2942873D6B475C3EFBCF1CBE8BD6143D368A283F6A2F533E1C13803E6D956B3D7D975A3E4C4695BE43FF5ABE0812D93DA899503E1ADED4BDFB5146BDD7A4BCBD80BC47BD54AB9ABE1780B8BEA097BABC71B7DFBEBC497DBEFA012CBED36088BEACFB653DECEBEBBDAE20C6BC2B7F83BE3CA742BEDA5EFC3D6C6AAF3DFB2EF9BDA0B9AE3D4907283D6A2A0A3DBBE0C83E6DAADABDF6DFC83DAB87C93D458086BD92DD98BE541D293E792D6C3D68838E3B443724BBDEAE56BB45F86DBE83BF823DA0A6EBBEBE1186BC81BAC4BE6AC0C9BD860E2C3E74789BBD047106BE4818EF3D9445A2BD2DB8E9BD3FAEE2BD0916BB3E45FB1C3EE6A2DB3DB5139FBEE6CD103E7874ACBE7C2FD93D45FE95BE25A3F23E4AE2DEBEE7EF943E78063E3E40CEEABEB9C399BD212EB13E7DAD893E5F07DCBE33B914BE710E9EBE87078BBEF03634BE33B2E33EA1C4903CBAD893BD39B9CBBD7E441A3E"> : tensor<16x8xf32>}> : () -> tensor<16x8xf32>
    %31 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %32 = "stablehlo.reduce"(%arg9, %31) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg16: tensor<f32>, %arg17: tensor<f32>):
      %120 = "stablehlo.add"(%arg16, %arg17) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%120) : (tensor<f32>) -> ()
    }) : (tensor<1x5x8xf32>, tensor<f32>) -> tensor<1x5xf32>
    %33 = "stablehlo.broadcast_in_dim"(%32) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x5xf32>) -> tensor<1x5x1xf32>
    %34 = "stablehlo.constant"() <{value = dense<8.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %35 = "stablehlo.broadcast_in_dim"(%34) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x5x1xf32>
    %36 = "stablehlo.divide"(%33, %35) : (tensor<1x5x1xf32>, tensor<1x5x1xf32>) -> tensor<1x5x1xf32>
    %37 = "stablehlo.broadcast_in_dim"(%36) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x5x1xf32>) -> tensor<1x5x8xf32>
    %38 = "stablehlo.subtract"(%arg9, %37) : (tensor<1x5x8xf32>, tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
    %39 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %40 = "func.call"(%arg9, %39) <{callee = @_var}> : (tensor<1x5x8xf32>, tensor<i32>) -> tensor<1x5x1xf32>
    %41 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %42 = "stablehlo.broadcast_in_dim"(%41) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x5x1xf32>
    %43 = "stablehlo.add"(%40, %42) : (tensor<1x5x1xf32>, tensor<1x5x1xf32>) -> tensor<1x5x1xf32>
    %44 = "stablehlo.rsqrt"(%43) : (tensor<1x5x1xf32>) -> tensor<1x5x1xf32>
    %45 = "stablehlo.broadcast_in_dim"(%44) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x5x1xf32>) -> tensor<1x5x8xf32>
    %46 = "stablehlo.multiply"(%38, %45) : (tensor<1x5x8xf32>, tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
    %47 = "stablehlo.broadcast_in_dim"(%26) <{broadcast_dimensions = array<i64: 2>}> : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %48 = "stablehlo.broadcast_in_dim"(%47) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x8xf32>) -> tensor<1x5x8xf32>
    %49 = "stablehlo.multiply"(%46, %48) : (tensor<1x5x8xf32>, tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
    %50 = "stablehlo.dot_general"(%49, %27) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x5x8xf32>, tensor<8x24xf32>) -> tensor<1x5x24xf32>
    %51 = "stablehlo.reshape"(%50) : (tensor<1x5x24xf32>) -> tensor<1x5x2x12xf32>
    %52 = "stablehlo.slice"(%51) <{limit_indices = array<i64: 1, 5, 2, 4>, start_indices = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<1x5x2x12xf32>) -> tensor<1x5x2x4xf32>
    %53 = "stablehlo.slice"(%51) <{limit_indices = array<i64: 1, 5, 2, 8>, start_indices = array<i64: 0, 0, 0, 4>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<1x5x2x12xf32>) -> tensor<1x5x2x4xf32>
    %54 = "stablehlo.slice"(%51) <{limit_indices = array<i64: 1, 5, 2, 12>, start_indices = array<i64: 0, 0, 0, 8>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<1x5x2x12xf32>) -> tensor<1x5x2x4xf32>
    %55 = "stablehlo.dot_general"(%52, %53) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x5x2x4xf32>, tensor<1x5x2x4xf32>) -> tensor<1x2x5x5xf32>
    %56 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %57 = "stablehlo.broadcast_in_dim"(%56) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2x5x5xf32>
    %58 = "stablehlo.divide"(%55, %57) : (tensor<1x2x5x5xf32>, tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
    %59 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %60 = "stablehlo.reduce"(%58, %59) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg14: tensor<f32>, %arg15: tensor<f32>):
      %119 = "stablehlo.maximum"(%arg14, %arg15) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%119) : (tensor<f32>) -> ()
    }) : (tensor<1x2x5x5xf32>, tensor<f32>) -> tensor<1x2x5xf32>
    %61 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %62 = "stablehlo.broadcast_in_dim"(%61) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x2x5xf32>
    %63 = "stablehlo.maximum"(%62, %60) : (tensor<1x2x5xf32>, tensor<1x2x5xf32>) -> tensor<1x2x5xf32>
    %64 = "stablehlo.broadcast_in_dim"(%63) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x2x5xf32>) -> tensor<1x2x5x1xf32>
    %65 = "stablehlo.broadcast_in_dim"(%64) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x2x5x1xf32>) -> tensor<1x2x5x5xf32>
    %66 = "stablehlo.subtract"(%58, %65) : (tensor<1x2x5x5xf32>, tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
    %67 = "stablehlo.exponential"(%66) : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
    %68 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %69 = "stablehlo.reduce"(%67, %68) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg12: tensor<f32>, %arg13: tensor<f32>):
      %118 = "stablehlo.add"(%arg12, %arg13) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%118) : (tensor<f32>) -> ()
    }) : (tensor<1x2x5x5xf32>, tensor<f32>) -> tensor<1x2x5xf32>
    %70 = "stablehlo.broadcast_in_dim"(%69) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x2x5xf32>) -> tensor<1x2x5x1xf32>
    %71 = "stablehlo.broadcast_in_dim"(%70) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x2x5x1xf32>) -> tensor<1x2x5x5xf32>
    %72 = "stablehlo.divide"(%67, %71) : (tensor<1x2x5x5xf32>, tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
    %73 = "stablehlo.dot_general"(%54, %72) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x5x2x4xf32>, tensor<1x2x5x5xf32>) -> tensor<1x2x4x5xf32>
    %74 = "stablehlo.transpose"(%73) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<1x2x4x5xf32>) -> tensor<1x5x2x4xf32>
    %75 = "stablehlo.reshape"(%74) : (tensor<1x5x2x4xf32>) -> tensor<1x5x8xf32>
    %76 = "stablehlo.dot_general"(%75, %28) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x5x8xf32>, tensor<8x8xf32>) -> tensor<1x5x8xf32>
    %77 = "stablehlo.add"(%arg9, %76) : (tensor<1x5x8xf32>, tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
    %78 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %79 = "stablehlo.reduce"(%77, %78) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
      %117 = "stablehlo.add"(%arg10, %arg11) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%117) : (tensor<f32>) -> ()
    }) : (tensor<1x5x8xf32>, tensor<f32>) -> tensor<1x5xf32>
    %80 = "stablehlo.broadcast_in_dim"(%79) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x5xf32>) -> tensor<1x5x1xf32>
    %81 = "stablehlo.constant"() <{value = dense<8.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %82 = "stablehlo.broadcast_in_dim"(%81) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x5x1xf32>
    %83 = "stablehlo.divide"(%80, %82) : (tensor<1x5x1xf32>, tensor<1x5x1xf32>) -> tensor<1x5x1xf32>
    %84 = "stablehlo.broadcast_in_dim"(%83) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x5x1xf32>) -> tensor<1x5x8xf32>
    %85 = "stablehlo.subtract"(%77, %84) : (tensor<1x5x8xf32>, tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
    %86 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %87 = "func.call"(%77, %86) <{callee = @_var}> : (tensor<1x5x8xf32>, tensor<i32>) -> tensor<1x5x1xf32>
    %88 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %89 = "stablehlo.broadcast_in_dim"(%88) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x5x1xf32>
    %90 = "stablehlo.add"(%87, %89) : (tensor<1x5x1xf32>, tensor<1x5x1xf32>) -> tensor<1x5x1xf32>
    %91 = "stablehlo.rsqrt"(%90) : (tensor<1x5x1xf32>) -> tensor<1x5x1xf32>
    %92 = "stablehlo.broadcast_in_dim"(%91) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x5x1xf32>) -> tensor<1x5x8xf32>
    %93 = "stablehlo.multiply"(%85, %92) : (tensor<1x5x8xf32>, tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
    %94 = "stablehlo.broadcast_in_dim"(%26) <{broadcast_dimensions = array<i64: 2>}> : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %95 = "stablehlo.broadcast_in_dim"(%94) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x8xf32>) -> tensor<1x5x8xf32>
    %96 = "stablehlo.multiply"(%93, %95) : (tensor<1x5x8xf32>, tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
    %97 = "stablehlo.dot_general"(%96, %29) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x5x8xf32>, tensor<8x16xf32>) -> tensor<1x5x16xf32>
    %98 = "stablehlo.multiply"(%97, %97) : (tensor<1x5x16xf32>, tensor<1x5x16xf32>) -> tensor<1x5x16xf32>
    %99 = "stablehlo.multiply"(%98, %97) : (tensor<1x5x16xf32>, tensor<1x5x16xf32>) -> tensor<1x5x16xf32>
    %100 = "stablehlo.constant"() <{value = dense<4.471500e-02> : tensor<f32>}> : () -> tensor<f32>
    %101 = "stablehlo.broadcast_in_dim"(%100) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x5x16xf32>
    %102 = "stablehlo.multiply"(%101, %99) : (tensor<1x5x16xf32>, tensor<1x5x16xf32>) -> tensor<1x5x16xf32>
    %103 = "stablehlo.add"(%97, %102) : (tensor<1x5x16xf32>, tensor<1x5x16xf32>) -> tensor<1x5x16xf32>
    %104 = "stablehlo.constant"() <{value = dense<0.797884583> : tensor<f32>}> : () -> tensor<f32>
    %105 = "stablehlo.broadcast_in_dim"(%104) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x5x16xf32>
    %106 = "stablehlo.multiply"(%105, %103) : (tensor<1x5x16xf32>, tensor<1x5x16xf32>) -> tensor<1x5x16xf32>
    %107 = "stablehlo.tanh"(%106) : (tensor<1x5x16xf32>) -> tensor<1x5x16xf32>
    %108 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %109 = "stablehlo.broadcast_in_dim"(%108) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x5x16xf32>
    %110 = "stablehlo.add"(%109, %107) : (tensor<1x5x16xf32>, tensor<1x5x16xf32>) -> tensor<1x5x16xf32>
    %111 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %112 = "stablehlo.broadcast_in_dim"(%111) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x5x16xf32>
    %113 = "stablehlo.multiply"(%112, %110) : (tensor<1x5x16xf32>, tensor<1x5x16xf32>) -> tensor<1x5x16xf32>
    %114 = "stablehlo.multiply"(%97, %113) : (tensor<1x5x16xf32>, tensor<1x5x16xf32>) -> tensor<1x5x16xf32>
    %115 = "stablehlo.dot_general"(%114, %30) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x5x16xf32>, tensor<16x8xf32>) -> tensor<1x5x8xf32>
    %116 = "stablehlo.add"(%77, %115) : (tensor<1x5x8xf32>, tensor<1x5x8xf32>) -> tensor<1x5x8xf32>
    "func.return"(%116) : (tensor<1x5x8xf32>) -> ()
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

module @jit_network attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x5x8xf32>) -> (tensor<1x5x8xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<[1.62732327, 0.0170987844, 2.40319967, -0.146831512, 0.658647537, 1.38604736, 2.64594841, 0.589197695]> : tensor<8xf32>
    %cst_0 = stablehlo.constant dense<"0x276D1BBEB6F7183F46137C3E1C97A93E20005CBE411DB9BE63D4CCBD13BAB03D7C0BFABDA64A88BD1809AE3E52A9D83D3020B2BEC9F31ABE0E0E6EBE6D03833D8E4BD3BE4A6D81BD5BC37A3E1063263CE76DA5BE6D2A5FBE5914343DEAE42E3EA286973EE24952BD9B72EEBEC1F9003F56B1D73D8303133EB937DD3D4ACEBBBE8033E7BD6C46BA3DF8ECBA3E254EAE3C58318DBFCAC1AEBD4E59FF3D0D38EA3E12C3803E5263613FB0EA003F05F4F33EA9A9AA3E5D3FFABE2055993E5409593E95703EBE7763543E2A5B173EE65A28BE8EB032BD54A5BEBD7BE2A63D74B619BE9747453E6C8F2DBF4923CCBD027B18BF09D42EBEAA263B3E8161FA3B883720BD763EC73C150E0E3FC440C8BE66B2A03E96E708BF513B29BE19EA6C3DAC2B9ABE0B89943D4CE8833E2A17D8BEC717E0BCE05408BE9D9F2FBFC77487BD736990BE7766F23E697E9EBE94D1193FDD2041BEB86B2F3F9847433E5E4F243E8ED9913ECB55A33EDB05FE3EACD31C3F2C0CFBBD704CE2BEDDD171BF59330CBEA19E893E55FB083EA0CE263DC191FDBDB9B367BEF566CDBD09D30C3ECAB61FBFEEF2833E2D0104BFCD2B65BD5DB865BEBEC805BE28AABDBE3835D1BE12FBA8BD76F4C4BEBD395E3FF16D18BE25886FBE2D1849BE7E18C3BEB3E75EBF4915BEBDF1E2DB3D88BC08BFD9CD0BBAC046DCBEBCD578BC70D0FE3D89102D3E79CF1A3E5ADD80BE36E79D3E9A1625BEF697F73D2F267C3E2F31E2BD5A06EABEF4105B3EEEC5CBBE93DAA2BEEC28C9BE27F3963EEB1C79BD40544CBF3369833E0B9F3A3F2D1A223F25F050BE9C0FC53C3DCC343E9EFF9F3E2C7C113CE4E7C7BEC3D0863E13125B3E12B7F2BE53B408BEA31EBB3D6FD49CBB22E8393E91058E3E7016403E17AD36BD9043F6BEDBBE5A3E8F8AFB3EB0C0313F180C83BC23788ABCF5D0013FAD1D013F7890ED3D936D7D3ECF2B8CBE3FB94E3ED4F597BEB8BC65BD8FFC45BDE1B02EBE096540BFF21998BE4B24E73D8A0CD9BCA8A313BEFC17163EF639743E97DB963E00C794BE3872103BFA3BFDBD08DFA1BE17EC08BFD6F625BDF3FEA0BE5F69413F"> : tensor<8x24xf32>
    %cst_1 = stablehlo.constant dense<[[-0.0407411046, -8.525300e-02, -0.146482244, 0.657221794, -3.388910e-01, -0.0628195106, -0.278015345, -0.0499790311], [-0.0185609479, 0.382615805, -0.506622672, -0.0133052124, 0.565573752, -0.186173558, -0.0686858818, -0.319533646], [-0.931650519, -0.0429384075, 0.409704477, -0.171356037, -0.658825576, 0.0882257372, 0.0219657645, 0.34772718], [0.315933287, -0.101510279, 0.135388523, -0.642161727, 0.387799412, 0.0597402081, 0.377696276, 0.369734824], [-0.107602395, -0.0588433482, -0.315288574, -0.736577034, -0.0526695289, 0.0483113527, -0.389901072, 0.245651171], [0.028803926, 0.154367492, -0.278117955, -0.629860163, 0.269025981, 0.210012555, -0.0448330306, -0.154894024], [-0.103951447, -0.0544253886, -0.185906485, -0.716993213, 0.271270275, -0.534486711, -0.123675264, -0.114413813], [0.0864030942, -0.576317847, 0.421014577, 0.226221204, 0.26682812, 0.442886829, -0.287177593, -1.1132015]]> : tensor<8x8xf32>
    %cst_2 = stablehlo.constant dense<"0x00E4E73D5B78EB3E8176D03E3F7C45BE27DF11BDB1C8C83DBB5024BF4C2D74BE3BE168BE78C00E3F3AED6DBE30B70D3F6BF6513BD91918BF6F6E483FDC62B0BE15485F3E435F1A3F6EBE41BE09C2DEBE416DBC3E0378BD3CC42BDEBEE9B7C3BE8E120DBE9781AE3E2BDACFBD2AF66C3E2A96153F5DCAE53E621D023FAEFFDE3E569611BF5D60DD3E86E3ED3DB92534BDAB57C4BE10D20FBF6C21C9BEC881F7BBB1B6D4BE38CC93BEB9455FBE1150713EA7BBD5BD084753BDBF12F03ED29AE8BDE9F2583E2E64BFBED153EE3D6E132D3D42EC7D3D8ED828BEE98EBABEE0E1D8BDBA6C29BE980FBB3EE855A43E709BD9BE7F1D633E6FAE2DBE9C25263EAA572EBE8D3505BFCDF6B73E98BF233E81DFDDBEEB302BBFE16841BEC2EFD5BE4DC003BE6C90603E65F7043F0C2D01BED953F93ED2C4D23ED8461DBEB8E116BF34849A3EB6FD5C3EA524553FEA96013FD6FB8D3ED906193FDE36BDBE87A48E3D552DC3BD9E171E3F6F4B4E3E103A8ABFF820F93EC8F8A2BEFF118E3E0B4D2ABE4213B83D63D4693E56B9943D3185AABE7398FF3E5996143EDBE582BA1F74823EAB623CBEAB1C2C3F4582AE3D115B0A3E08D2033E7216A2BEC564D1BE0942AA3DB932063E1204F73E0A2E2A3E05BFC1BEBB77453EFE41993EFA11B93ECE9BFF3D0AA3D9BEE3BAD53EA70081BE45B5563E48A10CBF0AE88D3E73A18ABE3967C73E9063213F"> : tensor<8x16xf32>
    %cst_3 = stablehlo.constant dense<"0x061F983EE31F93BEA6026DBE64445ABE30312E3E6FF6B93DC31A343DD839A73DE0C7183E820F2B3ED665DA3EEAA823BCF274603D14A2EBBEA198A7BED9FA2DBE422996BE99C16E3D49C7863E8369D9BDE66BF3BDFCA000BE62BF0E3DBB7B09BE8C2DDE3D10789D3DCC62B33DE7F7443E42CF133C7C5F173D14AAE13E20832FBC18E44C3E1F28643C1A14EABDD5E2E9BDC50552BE39F8393B89D41ABEFB1CD9BD0FF39B3E08E909BDF6C8913E2942873D6B475C3EFBCF1CBE8BD6143D368A283F6A2F533E1C13803E6D956B3D7D975A3E4C4695BE43FF5ABE0812D93DA899503E1ADED4BDFB5146BDD7A4BCBD80BC47BD54AB9ABE1780B8BEA097BABC71B7DFBEBC497DBEFA012CBED36088BEACFB653DECEBEBBDAE20C6BC2B7F83BE3CA742BEDA5EFC3D6C6AAF3DFB2EF9BDA0B9AE3D4907283D6A2A0A3DBBE0C83E6DAADABDF6DFC83DAB87C93D458086BD92DD98BE541D293E792D6C3D68838E3B443724BBDEAE56BB45F86DBE83BF823DA0A6EBBEBE1186BC81BAC4BE6AC0C9BD860E2C3E74789BBD047106BE4818EF3D9445A2BD2DB8E9BD3FAEE2BD0916BB3E45FB1C3EE6A2DB3DB5139FBEE6CD103E7874ACBE7C2FD93D45FE95BE25A3F23E4AE2DEBEE7EF943E78063E3E40CEEABEB9C399BD212EB13E7DAD893E5F07DCBE33B914BE710E9EBE87078BBEF03634BE33B2E33EA1C4903CBAD893BD39B9CBBD7E441A3E"> : tensor<16x8xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst_4) applies stablehlo.add across dimensions = [2] : (tensor<1x5x8xf32>, tensor<f32>) -> tensor<1x5xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<1x5xf32>) -> tensor<1x5x1xf32>
    %cst_5 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<1x5x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<1x5x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<1x5x1xf32>) -> tensor<1x5x8xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<1x5x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6 = call @_var(%arg0, %c) : (tensor<1x5x8xf32>, tensor<i32>) -> tensor<1x5x1xf32>
    %cst_6 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<1x5x1xf32>
    %8 = stablehlo.add %6, %7 : tensor<1x5x1xf32>
    %9 = stablehlo.rsqrt %8 : tensor<1x5x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<1x5x1xf32>) -> tensor<1x5x8xf32>
    %11 = stablehlo.multiply %5, %10 : tensor<1x5x8xf32>
    %12 = stablehlo.broadcast_in_dim %cst, dims = [2] : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<1x5x8xf32>
    %14 = stablehlo.multiply %11, %13 : tensor<1x5x8xf32>
    %15 = stablehlo.dot_general %14, %cst_0, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x5x8xf32>, tensor<8x24xf32>) -> tensor<1x5x24xf32>
    %16 = stablehlo.reshape %15 : (tensor<1x5x24xf32>) -> tensor<1x5x2x12xf32>
    %17 = stablehlo.slice %16 [0:1, 0:5, 0:2, 0:4] : (tensor<1x5x2x12xf32>) -> tensor<1x5x2x4xf32>
    %18 = stablehlo.slice %16 [0:1, 0:5, 0:2, 4:8] : (tensor<1x5x2x12xf32>) -> tensor<1x5x2x4xf32>
    %19 = stablehlo.slice %16 [0:1, 0:5, 0:2, 8:12] : (tensor<1x5x2x12xf32>) -> tensor<1x5x2x4xf32>
    %20 = stablehlo.dot_general %17, %18, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x5x2x4xf32>, tensor<1x5x2x4xf32>) -> tensor<1x2x5x5xf32>
    %cst_7 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<1x2x5x5xf32>
    %22 = stablehlo.divide %20, %21 : tensor<1x2x5x5xf32>
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %23 = stablehlo.reduce(%22 init: %cst_8) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x5x5xf32>, tensor<f32>) -> tensor<1x2x5xf32>
    %cst_9 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<1x2x5xf32>
    %25 = stablehlo.maximum %24, %23 : tensor<1x2x5xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2] : (tensor<1x2x5xf32>) -> tensor<1x2x5x1xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2, 3] : (tensor<1x2x5x1xf32>) -> tensor<1x2x5x5xf32>
    %28 = stablehlo.subtract %22, %27 : tensor<1x2x5x5xf32>
    %29 = stablehlo.exponential %28 : tensor<1x2x5x5xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.reduce(%29 init: %cst_10) applies stablehlo.add across dimensions = [3] : (tensor<1x2x5x5xf32>, tensor<f32>) -> tensor<1x2x5xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2] : (tensor<1x2x5xf32>) -> tensor<1x2x5x1xf32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2, 3] : (tensor<1x2x5x1xf32>) -> tensor<1x2x5x5xf32>
    %33 = stablehlo.divide %29, %32 : tensor<1x2x5x5xf32>
    %34 = stablehlo.dot_general %19, %33, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x5x2x4xf32>, tensor<1x2x5x5xf32>) -> tensor<1x2x4x5xf32>
    %35 = stablehlo.transpose %34, dims = [0, 3, 1, 2] : (tensor<1x2x4x5xf32>) -> tensor<1x5x2x4xf32>
    %36 = stablehlo.reshape %35 : (tensor<1x5x2x4xf32>) -> tensor<1x5x8xf32>
    %37 = stablehlo.dot_general %36, %cst_1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x5x8xf32>, tensor<8x8xf32>) -> tensor<1x5x8xf32>
    %38 = stablehlo.add %arg0, %37 : tensor<1x5x8xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %39 = stablehlo.reduce(%38 init: %cst_11) applies stablehlo.add across dimensions = [2] : (tensor<1x5x8xf32>, tensor<f32>) -> tensor<1x5xf32>
    %40 = stablehlo.broadcast_in_dim %39, dims = [0, 1] : (tensor<1x5xf32>) -> tensor<1x5x1xf32>
    %cst_12 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<1x5x1xf32>
    %42 = stablehlo.divide %40, %41 : tensor<1x5x1xf32>
    %43 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2] : (tensor<1x5x1xf32>) -> tensor<1x5x8xf32>
    %44 = stablehlo.subtract %38, %43 : tensor<1x5x8xf32>
    %c_13 = stablehlo.constant dense<0> : tensor<i32>
    %45 = call @_var(%38, %c_13) : (tensor<1x5x8xf32>, tensor<i32>) -> tensor<1x5x1xf32>
    %cst_14 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<1x5x1xf32>
    %47 = stablehlo.add %45, %46 : tensor<1x5x1xf32>
    %48 = stablehlo.rsqrt %47 : tensor<1x5x1xf32>
    %49 = stablehlo.broadcast_in_dim %48, dims = [0, 1, 2] : (tensor<1x5x1xf32>) -> tensor<1x5x8xf32>
    %50 = stablehlo.multiply %44, %49 : tensor<1x5x8xf32>
    %51 = stablehlo.broadcast_in_dim %cst, dims = [2] : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %52 = stablehlo.broadcast_in_dim %51, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<1x5x8xf32>
    %53 = stablehlo.multiply %50, %52 : tensor<1x5x8xf32>
    %54 = stablehlo.dot_general %53, %cst_2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x5x8xf32>, tensor<8x16xf32>) -> tensor<1x5x16xf32>
    %55 = stablehlo.multiply %54, %54 : tensor<1x5x16xf32>
    %56 = stablehlo.multiply %55, %54 : tensor<1x5x16xf32>
    %cst_15 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<1x5x16xf32>
    %58 = stablehlo.multiply %57, %56 : tensor<1x5x16xf32>
    %59 = stablehlo.add %54, %58 : tensor<1x5x16xf32>
    %cst_16 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<1x5x16xf32>
    %61 = stablehlo.multiply %60, %59 : tensor<1x5x16xf32>
    %62 = stablehlo.tanh %61 : tensor<1x5x16xf32>
    %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<1x5x16xf32>
    %64 = stablehlo.add %63, %62 : tensor<1x5x16xf32>
    %cst_18 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<1x5x16xf32>
    %66 = stablehlo.multiply %65, %64 : tensor<1x5x16xf32>
    %67 = stablehlo.multiply %54, %66 : tensor<1x5x16xf32>
    %68 = stablehlo.dot_general %67, %cst_3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x5x16xf32>, tensor<16x8xf32>) -> tensor<1x5x8xf32>
    %69 = stablehlo.add %38, %68 : tensor<1x5x8xf32>
    return %69 : tensor<1x5x8xf32>
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

"builtin.module"() <{sym_name = "jit_network"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<1x5x8xf32>) -> tensor<1x5x8xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg9: tensor<1x5x8xf32>):
    %26 = "stablehlo.constant"() <{value = dense<[0.558477163, 0.654999911, 0.85544604, 0.93121773, 1.32680285, 0.979430615, 0.728249967, 0.593546569]> : tensor<8xf32>}> : () -> tensor<8xf32>
    %27 = "stablehlo.constant"() <{value = dense<[-0.186611116, 0.0128049254, -0.395750582, -0.197636187, 0.0385567546, 0.455824733, 0.00121194124, -0.476234913]> : tensor<8xf32>}> : () -> tensor<8xf32>
    %28 = "stablehlo.constant"() <{value = dense<"0xD2E0A33D66B01E3EA9B55D3EC36E7ABDB5328EBECAB64CBE64A2DBBC9B71103EEDAA86BEB509683E4B65D23CE38982BEE24C80BE5136303EAA0C2ABE5ABBFEBDD5649FBD9005ED3DF52C22BE9838C13D6BA010BD20319BBDDA644A3ECA597DBE5CAB53BE86B667BE3E4E423ECCE7423E8EF895BE89E34E3CD898B1BD0CC92B3D924E3FBCE3F4013DF930933E590F8DBD12992C3E35903D3E093F993E8B7FEC3BEF93603E8F4C2EBB50E39EBE1DC123BE569AAFBEB9619CBE5E50A83DE1F147BE14409DBE933B373E6EF61BBC9AD70BBE2BF8A1BDBC4C11BDCD839D3D4830B03EF6BDE9BD1FF28A3D8E80913E021B45BD09130DBE6BE1B43E13FCCCBC5133963EC8CFA83DE3A16F3E5BFA123E37F79D3D9484CFBD0DAD6EBD49E27ABE2728503EC4B971BEEDF138BE7B1B503EFA949C3DFBE25B3E5A1145BEC2E5693EB0DC363EE3B46EBE0C1CE2BDE401783ED390F83DBF234BBE7F4E933E10F8F83D8196A43DBE1A3A3EE3A60B3EA9BB353E37628BBE364F04BE0E4BD8BB3CFA64BEA4708A3E8E42DB3D60813ABEC9D6523E110D103EAD1D8BBD29E481BD239C9C3E95D8D13CBF7A86BE1A9AB13D35D102BE80BBA2BE69D129BE75873FBECF4A9D3EC59D843E11E6893E41C861BEFFBF8D3EEDAA58BED7EE02BEEBF1C2BC1533253E9AED523E50FCD93D585285BEC7480B3ED49D6E3ECF5D95BE64B035BE5E6A19BE5F36723E6D0C683E6891663E3F52133A0D822DBEA68747BED39C983E053D9ABDD919343E57D21A3EE1F1603E1D105C3E23A7A53EE44F8D3DCD690BBEA7D93ABB77A763BE4BAE693D8D91CF3DAF988BBE3C0EAD3E561075BE98CD7CBC849D9ABE0719813EC60714BE7AD979BE17B4D7BB736A903E7B4443BE3BC1AABD35F60F3ED2582A3ECF93113E89D735BDA4482B3E9B670C3E396C67BEDF92C7BD954495BCF94A14BCA32C8FBDADA240BE10D193BDEABC9FBDC6294CBEA2C71A3E512CA23DA08747BECE7648BED6AC88BDC79781BE86B4763D834D793DBF0E4F3E03CACA3D52BE1ABE468817BE8F2D0E3E87ED3E3E248D0E3EF74046BE3E468E3EFF77E6BD8C7799BE"> : tensor<8x24xf32>}> : () -> tensor<8x24xf32>
    %29 = "stablehlo.constant"() <{value = dense<[-0.212830409, -0.252280653, 0.107043549, -0.333637327, 0.257215798, 0.284548879, -0.0303350668, 0.0895268991, 0.122902736, 0.319948524, 0.019748833, 0.323589325, 1.316850e-01, -0.105351396, 0.266857684, 0.101017863, 0.146485075, 0.0447797179, -0.182158172, 0.320086062, 0.0758173317, -0.0498345159, 0.0854332596, -0.180691242]> : tensor<24xf32>}> : () -> tensor<24xf32>
    %30 = "stablehlo.constant"() <{value = dense<[[0.108347617, 0.33506003, 0.260464311, -0.244750872, -0.172050938, 0.330461591, 0.046132002, -0.271956414], [-0.343762338, -0.00200522062, -0.19122918, 0.0756909773, 0.293781072, 0.184224844, -0.0194093399, -0.0132824108], [0.204549059, -0.225852475, -0.224272221, 3.66256099E-5, -0.162451059, 0.0517572127, -0.027538456, 0.0872741118], [0.233782202, -0.342231721, -0.191983059, 0.302542388, -0.238229066, 0.0287138466, 0.0153339505, -1.963770e-01], [-0.20735988, 0.0188841484, 0.0235623643, 0.13596645, 0.273127645, 0.17068626, 0.350431979, 0.158173248], [0.145913273, -0.179352209, -0.0857669785, 7.085180e-02, 0.314781606, -0.168254226, 0.304933369, -3.450910e-01], [0.0304033868, -0.324682206, -0.280761153, 0.298389345, 0.200842083, -0.123195872, -0.333133966, 0.246301666], [-0.114971332, -0.260414779, -0.216336444, 0.0690220371, -0.0838468149, 0.200002506, -0.275257558, -0.00824565161]]> : tensor<8x8xf32>}> : () -> tensor<8x8xf32>
    %31 = "stablehlo.constant"() <{value = dense<[0.110571072, 0.247382656, 0.0380794667, -0.173195228, -0.0987793952, 0.316526741, -0.072125271, -0.0163896438]> : tensor<8xf32>}> : () -> tensor<8xf32>
    %32 = "stablehlo.constant"() <{value = dense<[0.63909018, 0.624759376, 1.3336612, 1.30767226, 1.01152861, 0.699228227, 0.788142681, 7.135670e-01]> : tensor<8xf32>}> : () -> tensor<8xf32>
    %33 = "stablehlo.constant"() <{value = dense<[0.46305865, -3.936050e-01, 0.089407444, 0.219789922, -0.429010749, 0.210971236, 0.24876976, 0.128077805]> : tensor<8xf32>}> : () -> tensor<8xf32>
    %34 = "stablehlo.constant"() <{value = dense<"0xE30998BE95AC5A3C1359E33D363A443EC71D91BD9F7E323E091C303E7225BB3D88122E3E3C65FB3CDC089C3D51578A3E55E9663D0B50603E0AB2433E2EB588BE15A962BE8D9DB33E8312943D19A838BE5A7A883E23A1383B57D5AB3E51072E3E7A500FBE3D6DA4BE848B7B3E485E60BD7B54023E32F62A3C9F8FA03ECE5F583EDE6CA9BCF7B9AD3E7A990DBCDE74CB3C390384BE7D428DBE53E917BD9F53A2BE067740BDC930273E24768F3EE24FA8BE3D0BE93DC3D3F33C32778E3E54869CBDCAA8BB3D9D8D303EDD2E21BDBFBB0BBE01DE3E3DEEF750BE99CD793E9712033ED0B5B3BE1AC1663E148488BE4A0E803EAACB3EBDF23CAEBEC6B56B3EEA5D903EFCDE5CBEC3AB913E275D98BE36820EBED7707A3CB13D83BE7E8A8B3EDF655A3E08DFD1BDACA462BE58C0A73EA0034CBE7BBA58BE03DC84BD462944BE0DFFA73D5111953C7407813D37552FBEFB6CDB3D20CCAD3E00B7943E62A03D3E86877ABE7B4B07BEF1D709BE4D31023C990986BE39E3ECBDF72745BE7B11943E2FF6743EF1CBA43E0E640BBEE27670BE7A300C3E8A55393EEC5A973EFBE11DBE1B6B7EBE1D69B0BE049220BE1CADA8BEAF20D6BDE3D75B3E24E4AEBE31F397BE9D1758BD21D4A93EC4F1913EFE4B70BD81BFA03E834C3DBEBFE988BE6A75983EFFB20BBE7C25143E2242E8BD9E81493EBA41EABBE88F9E3D55FB8B3E2551B43D453D93BE"> : tensor<8x16xf32>}> : () -> tensor<8x16xf32>
    %35 = "stablehlo.constant"() <{value = dense<[-0.339606434, -0.324353069, -0.183088392, 0.31202504, 0.127861068, 0.0366091728, 0.255854726, -0.280615866, 0.054217916, 0.190066352, -0.34448427, -0.316779882, 0.333745658, -0.072396569, -0.322863698, 0.297390103]> : tensor<16xf32>}> : () -> tensor<16xf32>
    %36 = "stablehlo.constant"() <{value = dense<"0x00F63CBBF4A05ABEF8C7C73D482C61BE3A6969BE1001FA3D00A89FBB28F3E03D062B003EF8951D3E68670B3E60C87ABC20A1AABD6CC094BD1E9C50BEA464E4BD802BCE3CEAB02EBE6CC15E3EC070A6BC40EDADBD48AD3ABE5C0714BE8898F03D1079DB3D041F49BE4E0B04BE6CC589BD6CA1CD3D5C31FCBDC0F0A03BD8652EBE7A84393EEC3683BD80079F3C4ED43BBE38A566BE62B83FBE0026D0BC4032EDBB18ACC43D40D69BBDA05CF63C7468E2BD72676A3E202566BDC0625E3D80391FBCD29A51BE506244BED41F03BE54AA18BEC0D3BBBB1E466A3ED4D3C73D7A5D5CBE9EB50F3E608C28BC20262B3E40BC083D38BF513D4826EABDE8101BBD40A9DABCA0E64CBE285D983DA00D423E8211283E98FC80BDA047AEBDC46FE53D30EFC0BC7451FE3D7A9C613E103F193DC26A14BEDCED9ABD3A62443E00D271BE00D301BBB8C257BE7454973D60741FBE52CC643ECCC72BBE1C44B1BDE00006BC400E723EC88B76BDCCD49B3D988C453EB868D53DC038C3BB0480D73D900A5ABE887F1EBD10BDD8BC9027133D86D3433E10936FBDE4752C3E74333B3E3C93C93DD611153E30EF2E3DAC3611BE04DCF9BDB88D2E3EA8B5873D2614093E302A323EFC1895BDDA140E3EC0A1F9BC9C750BBE20B864BDD07EA53DD25E003E780ABEBDC02408BE2AAC38BE78D42BBD3404633EF00BB3BDDABC3ABE5CCE353E105C42BDF0E7DBBC"> : tensor<16x8xf32>}> : () -> tensor<16x8xf32>
    %37 = "stablehlo.constant"() <{value = dense<[-0.146554291, -0.109228224, -0.0648307502, 0.0170046389, -0.138901442, -0.131951213, -0.182170451, -0.149352789]> : tensor<8xf32>}> : () -> tensor<8xf32>
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

"builtin.module"() <{sym_name = "jit_network"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<1x6x4xf32>) -> tensor<1x3xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg8: tensor<1x6x4xf32>):
    %43 = "stablehlo.constant"() <{value = dense<[[0.154230595, -0.331942588, -0.994147539, 1.2417413, -0.417426825, -0.627754688, 0.619894147, 0.582716942, -0.575670481, -0.736990929, -0.500033379, 0.564742923, -0.15563038, -0.40434894, -0.0141862063, 0.602095723, -0.694775164, -0.191900894, -0.69173783, 1.08607769], [0.909159779, 0.47558105, -0.0667007938, 0.32956332, -1.05100679, 0.138213381, -0.668082595, -0.662386417, -0.352362961, -0.175108373, 0.287109613, 0.350339383, 0.131336287, -0.472168297, 0.337993383, -0.0604734905, 0.590114415, -0.458565325, -1.38161254, -0.238354608], [1.07563174, 0.234493673, -0.0971645861, 0.441818148, 0.251591235, 0.230670646, -0.256772816, 0.0380855203, 1.005960e-01, -0.321330875, -0.559365094, 0.0695113316, 0.484225065, 0.323652148, 0.246988788, 0.25215748, 1.29200137, 0.129941866, 0.521019042, 9.785500e-01], [0.0265315529, 0.132265031, 0.522023261, 0.843831658, 0.156552657, 0.181508914, 0.0454197899, -0.602799594, 0.558833957, -0.126249373, -0.859376311, -0.072068356, -0.863514959, -5.023480e-01, 0.0105419923, -0.458462894, 0.537661374, -0.732069671, 0.134566441, 0.282134056]]> : tensor<4x20xf32>}> : () -> tensor<4x20xf32>
    %44 = "stablehlo.constant"() <{value = dense<[[0.656273305, 0.415896028, 0.107869908, 0.039656017, -0.0223749671, 0.513166547, -0.289704293, 0.237129912, -0.0376227312, 0.11198163, -0.112870619, 0.959440767, -0.289227873, 0.117978737, 0.12830013, 0.276931107, 0.206502303, 0.195000499, 0.444305837, -0.667808652], [0.0097198477, -0.546352625, 0.109386556, -0.523511469, -0.423876971, -0.0215763766, 0.63005495, 0.263848931, 0.138332859, 0.633319914, -0.416919678, -0.92976731, -0.183670819, -0.118493624, 0.558139384, 0.96264863, -0.588682413, 1.11396718, 0.705731332, 0.38114965], [0.170749739, 1.09115016, 0.0422057472, -0.20565249, 0.0684140697, -0.606122791, 0.217338666, -0.0428491607, 0.154109403, 0.167363077, -0.467244685, 0.594937921, -0.44751361, 0.403548747, -0.706184149, 0.172569558, -0.360259235, 0.0256005749, -0.284747303, -0.969771564], [-0.491831541, 0.0374446735, 0.285834253, -0.650220037, -0.943552374, -0.383194566, -0.087671414, -0.276296377, -0.3551974, 0.38729924, 0.438857973, 0.338627249, -0.41257447, 0.0410041399, -0.0797078385, -0.63148266, 0.401553452, 0.0462250076, -0.209973201, 0.640828192], [0.348471969, 0.389692634, 0.543540716, 0.327881455, -0.55902791, -0.167101175, 0.455390543, -0.337146729, 0.0231947042, 0.184461296, 0.651216745, 0.587333679, 0.408229411, -0.0769906119, 0.41546455, 0.242422894, -0.0661782324, 0.613304734, 0.227230683, -0.332126677]]> : tensor<5x20xf32>}> : () -> tensor<5x20xf32>
    %45 = "stablehlo.constant"() <{value = dense<[1.27941406, -0.242140412, 0.606461822, -1.51180732, -0.00708798877, -0.934190928, -0.961025655, -1.89919198, 2.15448093, -0.139062762, 0.248880401, 1.11849177, -0.111503288, 0.523630619, -1.34912074, 0.206168458, -0.404288977, 0.510039747, 0.190316603, -1.37646067]> : tensor<20xf32>}> : () -> tensor<20xf32>
    %46 = "stablehlo.constant"() <{value = dense<[[-8.241410e-01, -0.449932784, 0.333580106], [0.193938583, 0.184051663, -0.899425745], [-1.19921684, -0.275611728, -0.145601556], [-0.26683408, 1.614550e-01, -0.0738221704], [-0.527820647, -0.391109526, 0.0662409514]]> : tensor<5x3xf32>}> : () -> tensor<5x3xf32>
    %47 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %48 = "stablehlo.broadcast_in_dim"(%47) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x5xf32>
    %49 = "stablehlo.transpose"(%arg8) <{permutation = array<i64: 1, 0, 2>}> : (tensor<1x6x4xf32>) -> tensor<6x1x4xf32>
    %50 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %51:7 = "stablehlo.while"(%49, %43, %44, %45, %50, %48, %48) ({
    ^bb0(%arg16: tensor<6x1x4xf32>, %arg17: tensor<4x20xf32>, %arg18: tensor<5x20xf32>, %arg19: tensor<20xf32>, %arg20: tensor<i32>, %arg21: tensor<1x5xf32>, %arg22: tensor<1x5xf32>):
      %57 = "stablehlo.constant"() <{value = dense<6> : tensor<i32>}> : () -> tensor<i32>
      %58 = "stablehlo.compare"(%arg20, %57) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%58) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg9: tensor<6x1x4xf32>, %arg10: tensor<4x20xf32>, %arg11: tensor<5x20xf32>, %arg12: tensor<20xf32>, %arg13: tensor<i32>, %arg14: tensor<1x5xf32>, %arg15: tensor<1x5xf32>):
      %53 = "func.call"(%arg9, %arg13) <{callee = @dynamic_index_in_dim}> : (tensor<6x1x4xf32>, tensor<i32>) -> tensor<1x4xf32>
      %54:2 = "func.call"(%arg10, %arg11, %arg12, %arg14, %arg15, %53) <{callee = @closed_call}> : (tensor<4x20xf32>, tensor<5x20xf32>, tensor<20xf32>, tensor<1x5xf32>, tensor<1x5xf32>, tensor<1x4xf32>) -> (tensor<1x5xf32>, tensor<1x5xf32>)
      %55 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %56 = "stablehlo.add"(%arg13, %55) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg9, %arg10, %arg11, %arg12, %56, %54#0, %54#1) : (tensor<6x1x4xf32>, tensor<4x20xf32>, tensor<5x20xf32>, tensor<20xf32>, tensor<i32>, tensor<1x5xf32>, tensor<1x5xf32>) -> ()
    }) : (tensor<6x1x4xf32>, tensor<4x20xf32>, tensor<5x20xf32>, tensor<20xf32>, tensor<i32>, tensor<1x5xf32>, tensor<1x5xf32>) -> (tensor<6x1x4xf32>, tensor<4x20xf32>, tensor<5x20xf32>, tensor<20xf32>, tensor<i32>, tensor<1x5xf32>, tensor<1x5xf32>)
    %52 = "stablehlo.dot_general"(%51#5, %46) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x5xf32>, tensor<5x3xf32>) -> tensor<1x3xf32>
    "func.return"(%52) : (tensor<1x3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<6x1x4xf32>, tensor<i32>) -> tensor<1x4xf32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg6: tensor<6x1x4xf32>, %arg7: tensor<i32>):
    %39 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %40 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %41 = "stablehlo.dynamic_slice"(%arg6, %arg7, %39, %40) <{slice_sizes = array<i64: 1, 1, 4>}> : (tensor<6x1x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x4xf32>
    %42 = "stablehlo.reshape"(%41) : (tensor<1x1x4xf32>) -> tensor<1x4xf32>
    "func.return"(%42) : (tensor<1x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x20xf32>, tensor<5x20xf32>, tensor<20xf32>, tensor<1x5xf32>, tensor<1x5xf32>, tensor<1x4xf32>) -> (tensor<1x5xf32>, tensor<1x5xf32>), res_attrs = [{}, {}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<4x20xf32>, %arg1: tensor<5x20xf32>, %arg2: tensor<20xf32>, %arg3: tensor<1x5xf32>, %arg4: tensor<1x5xf32>, %arg5: tensor<1x4xf32>):
    %0 = "stablehlo.dot_general"(%arg5, %arg0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x4xf32>, tensor<4x20xf32>) -> tensor<1x20xf32>
    %1 = "stablehlo.dot_general"(%arg3, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x5xf32>, tensor<5x20xf32>) -> tensor<1x20xf32>
    %2 = "stablehlo.add"(%0, %1) : (tensor<1x20xf32>, tensor<1x20xf32>) -> tensor<1x20xf32>
    %3 = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64: 1>}> : (tensor<20xf32>) -> tensor<1x20xf32>
    %4 = "stablehlo.add"(%2, %3) : (tensor<1x20xf32>, tensor<1x20xf32>) -> tensor<1x20xf32>
    %5 = "stablehlo.slice"(%4) <{limit_indices = array<i64: 1, 5>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<1x20xf32>) -> tensor<1x5xf32>
    %6 = "stablehlo.slice"(%4) <{limit_indices = array<i64: 1, 10>, start_indices = array<i64: 0, 5>, strides = array<i64: 1, 1>}> : (tensor<1x20xf32>) -> tensor<1x5xf32>
    %7 = "stablehlo.slice"(%4) <{limit_indices = array<i64: 1, 15>, start_indices = array<i64: 0, 10>, strides = array<i64: 1, 1>}> : (tensor<1x20xf32>) -> tensor<1x5xf32>
    %8 = "stablehlo.slice"(%4) <{limit_indices = array<i64: 1, 20>, start_indices = array<i64: 0, 15>, strides = array<i64: 1, 1>}> : (tensor<1x20xf32>) -> tensor<1x5xf32>
    %9 = "stablehlo.negate"(%6) : (tensor<1x5xf32>) -> tensor<1x5xf32>
    %10 = "stablehlo.exponential"(%9) : (tensor<1x5xf32>) -> tensor<1x5xf32>
    %11 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x5xf32>
    %13 = "stablehlo.add"(%12, %10) : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<1x5xf32>
    %14 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %15 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x5xf32>
    %16 = "stablehlo.divide"(%15, %13) : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<1x5xf32>
    %17 = "stablehlo.multiply"(%16, %arg4) : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<1x5xf32>
    %18 = "stablehlo.negate"(%5) : (tensor<1x5xf32>) -> tensor<1x5xf32>
    %19 = "stablehlo.exponential"(%18) : (tensor<1x5xf32>) -> tensor<1x5xf32>
    %20 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %21 = "stablehlo.broadcast_in_dim"(%20) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x5xf32>
    %22 = "stablehlo.add"(%21, %19) : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<1x5xf32>
    %23 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %24 = "stablehlo.broadcast_in_dim"(%23) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x5xf32>
    %25 = "stablehlo.divide"(%24, %22) : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<1x5xf32>
    %26 = "stablehlo.tanh"(%7) : (tensor<1x5xf32>) -> tensor<1x5xf32>
    %27 = "stablehlo.multiply"(%25, %26) : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<1x5xf32>
    %28 = "stablehlo.add"(%17, %27) : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<1x5xf32>
    %29 = "stablehlo.negate"(%8) : (tensor<1x5xf32>) -> tensor<1x5xf32>
    %30 = "stablehlo.exponential"(%29) : (tensor<1x5xf32>) -> tensor<1x5xf32>
    %31 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %32 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x5xf32>
    %33 = "stablehlo.add"(%32, %30) : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<1x5xf32>
    %34 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %35 = "stablehlo.broadcast_in_dim"(%34) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x5xf32>
    %36 = "stablehlo.divide"(%35, %33) : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<1x5xf32>
    %37 = "stablehlo.tanh"(%28) : (tensor<1x5xf32>) -> tensor<1x5xf32>
    %38 = "stablehlo.multiply"(%36, %37) : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<1x5xf32>
    "func.return"(%38, %28) : (tensor<1x5xf32>, tensor<1x5xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

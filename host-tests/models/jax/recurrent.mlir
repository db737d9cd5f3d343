module @jit_network attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x6x4xf32>) -> (tensor<1x3xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<[[0.154230595, -0.331942588, -0.994147539, 1.2417413, -0.417426825, -0.627754688, 0.619894147, 0.582716942, -0.575670481, -0.736990929, -0.500033379, 0.564742923, -0.15563038, -0.40434894, -0.0141862063, 0.602095723, -0.694775164, -0.191900894, -0.69173783, 1.08607769], [0.909159779, 0.47558105, -0.0667007938, 0.32956332, -1.05100679, 0.138213381, -0.668082595, -0.662386417, -0.352362961, -0.175108373, 0.287109613, 0.350339383, 0.131336287, -0.472168297, 0.337993383, -0.0604734905, 0.590114415, -0.458565325, -1.38161254, -0.238354608], [1.07563174, 0.234493673, -0.0971645861, 0.441818148, 0.251591235, 0.230670646, -0.256772816, 0.0380855203, 1.005960e-01, -0.321330875, -0.559365094, 0.0695113316, 0.484225065, 0.323652148, 0.246988788, 0.25215748, 1.29200137, 0.129941866, 0.521019042, 9.785500e-01], [0.0265315529, 0.132265031, 0.522023261, 0.843831658, 0.156552657, 0.181508914, 0.0454197899, -0.602799594, 0.558833957, -0.126249373, -0.859376311, -0.072068356, -0.863514959, -5.023480e-01, 0.0105419923, -0.458462894, 0.537661374, -0.732069671, 0.134566441, 0.282134056]]> : tensor<4x20xf32>
    %cst_0 = stablehlo.constant dense<[[0.656273305, 0.415896028, 0.107869908, 0.039656017, -0.0223749671, 0.513166547, -0.289704293, 0.237129912, -0.0376227312, 0.11198163, -0.112870619, 0.959440767, -0.289227873, 0.117978737, 0.12830013, 0.276931107, 0.206502303, 0.195000499, 0.444305837, -0.667808652], [0.0097198477, -0.546352625, 0.109386556, -0.523511469, -0.423876971, -0.0215763766, 0.63005495, 0.263848931, 0.138332859, 0.633319914, -0.416919678, -0.92976731, -0.183670819, -0.118493624, 0.558139384, 0.96264863, -0.588682413, 1.11396718, 0.705731332, 0.38114965], [0.170749739, 1.09115016, 0.0422057472, -0.20565249, 0.0684140697, -0.606122791, 0.217338666, -0.0428491607, 0.154109403, 0.167363077, -0.467244685, 0.594937921, -0.44751361, 0.403548747, -0.706184149, 0.172569558, -0.360259235, 0.0256005749, -0.284747303, -0.969771564], [-0.491831541, 0.0374446735, 0.285834253, -0.650220037, -0.943552374, -0.383194566, -0.087671414, -0.276296377, -0.3551974, 0.38729924, 0.438857973, 0.338627249, -0.41257447, 0.0410041399, -0.0797078385, -0.63148266, 0.401553452, 0.0462250076, -0.209973201, 0.640828192], [0.348471969, 0.389692634, 0.543540716, 0.327881455, -0.55902791, -0.167101175, 0.455390543, -0.337146729, 0.0231947042, 0.184461296, 0.651216745, 0.587333679, 0.408229411, -0.0769906119, 0.41546455, 0.242422894, -0.0661782324, 0.613304734, 0.227230683, -0.332126677]]> : tensor<5x20xf32>
    %cst_1 = stablehlo.constant dense<[1.27941406, -0.242140412, 0.606461822, -1.51180732, -0.00708798877, -0.934190928, -0.961025655, -1.89919198, 2.15448093, -0.139062762, 0.248880401, 1.11849177, -0.111503288, 0.523630619, -1.34912074, 0.206168458, -0.404288977, 0.510039747, 0.190316603, -1.37646067]> : tensor<20xf32>
    %cst_2 = stablehlo.constant dense<[[-8.241410e-01, -0.449932784, 0.333580106], [0.193938583, 0.184051663, -0.899425745], [-1.19921684, -0.275611728, -0.145601556], [-0.26683408, 1.614550e-01, -0.0738221704], [-0.527820647, -0.391109526, 0.0662409514]]> : tensor<5x3xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x5xf32>
    %1 = stablehlo.transpose %arg0, dims = [1, 0, 2] : (tensor<1x6x4xf32>) -> tensor<6x1x4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2:7 = stablehlo.while(%iterArg = %1, %iterArg_4 = %cst, %iterArg_5 = %cst_0, %iterArg_6 = %cst_1, %iterArg_7 = %c, %iterArg_8 = %0, %iterArg_9 = %0) : tensor<6x1x4xf32>, tensor<4x20xf32>, tensor<5x20xf32>, tensor<20xf32>, tensor<i32>, tensor<1x5xf32>, tensor<1x5xf32>
    cond {
      %c_10 = stablehlo.constant dense<6> : tensor<i32>
      %4 = stablehlo.compare LT, %iterArg_7, %c_10, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    } do {
      %4 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_7) : (tensor<6x1x4xf32>, tensor<i32>) -> tensor<1x4xf32>
      %5:2 = func.call @closed_call(%iterArg_4, %iterArg_5, %iterArg_6, %iterArg_8, %iterArg_9, %4) : (tensor<4x20xf32>, tensor<5x20xf32>, tensor<20xf32>, tensor<1x5xf32>, tensor<1x5xf32>, tensor<1x4xf32>) -> (tensor<1x5xf32>, tensor<1x5xf32>)
      %c_10 = stablehlo.constant dense<1> : tensor<i32>
      %6 = stablehlo.add %iterArg_7, %c_10 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_4, %iterArg_5, %iterArg_6, %6, %5#0, %5#1 : tensor<6x1x4xf32>, tensor<4x20xf32>, tensor<5x20xf32>, tensor<20xf32>, tensor<i32>, tensor<1x5xf32>, tensor<1x5xf32>
    }
    %3 = stablehlo.dot_general %2#5, %cst_2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x5xf32>, tensor<5x3xf32>) -> tensor<1x3xf32>
    return %3 : tensor<1x3xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<6x1x4xf32>, %arg1: tensor<i32>) -> tensor<1x4xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 1, 4] : (tensor<6x1x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x4xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x1x4xf32>) -> tensor<1x4xf32>
    return %1 : tensor<1x4xf32>
  }
  func.func private @closed_call(%arg0: tensor<4x20xf32>, %arg1: tensor<5x20xf32>, %arg2: tensor<20xf32>, %arg3: tensor<1x5xf32>, %arg4: tensor<1x5xf32>, %arg5: tensor<1x4xf32>) -> (tensor<1x5xf32>, tensor<1x5xf32>) {
    %0 = stablehlo.dot_general %arg5, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x4xf32>, tensor<4x20xf32>) -> tensor<1x20xf32>
    %1 = stablehlo.dot_general %arg3, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x5xf32>, tensor<5x20xf32>) -> tensor<1x20xf32>
    %2 = stablehlo.add %0, %1 : tensor<1x20xf32>
    %3 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<20xf32>) -> tensor<1x20xf32>
    %4 = stablehlo.add %2, %3 : tensor<1x20xf32>
    %5 = stablehlo.slice %4 [0:1, 0:5] : (tensor<1x20xf32>) -> tensor<1x5xf32>
    %6 = stablehlo.slice %4 [0:1, 5:10] : (tensor<1x20xf32>) -> tensor<1x5xf32>
    %7 = stablehlo.slice %4 [0:1, 10:15] : (tensor<1x20xf32>) -> tensor<1x5xf32>
    %8 = stablehlo.slice %4 [0:1, 15:20] : (tensor<1x20xf32>) -> tensor<1x5xf32>
    %9 = stablehlo.negate %6 : tensor<1x5xf32>
    %10 = stablehlo.exponential %9 : tensor<1x5xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x5xf32>
    %12 = stablehlo.add %11, %10 : tensor<1x5xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x5xf32>
    %14 = stablehlo.divide %13, %12 : tensor<1x5xf32>
    %15 = stablehlo.multiply %14, %arg4 : tensor<1x5xf32>
    %16 = stablehlo.negate %5 : tensor<1x5xf32>
    %17 = stablehlo.exponential %16 : tensor<1x5xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x5xf32>
    %19 = stablehlo.add %18, %17 : tensor<1x5xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x5xf32>
    %21 = stablehlo.divide %20, %19 : tensor<1x5xf32>
    %22 = stablehlo.tanh %7 : tensor<1x5xf32>
    %23 = stablehlo.multiply %21, %22 : tensor<1x5xf32>
    %24 = stablehlo.add %15, %23 : tensor<1x5xf32>
    %25 = stablehlo.negate %8 : tensor<1x5xf32>
    %26 = stablehlo.exponential %25 : tensor<1x5xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x5xf32>
    %28 = stablehlo.add %27, %26 : tensor<1x5xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<1x5xf32>
    %30 = stablehlo.divide %29, %28 : tensor<1x5xf32>
    %31 = stablehlo.tanh %24 : tensor<1x5xf32>
    %32 = stablehlo.multiply %30, %31 : tensor<1x5xf32>
    return %32, %24 : tensor<1x5xf32>, tensor<1x5xf32>
  }
}

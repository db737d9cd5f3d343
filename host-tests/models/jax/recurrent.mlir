module @jit_network attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x6x4xf32>) -> (tensor<1x3xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<[[-0.0420634896, 0.125199273, -0.126193196, 1.07268739, -0.323366582, 0.131904244, 0.143443912, 0.309618384, 0.230876595, 0.218017176, 0.496749043, -0.746632754, 0.0108671198, -0.610840797, 0.12229789, -0.585303605, -0.473908871, -0.0241231229, 0.704422891, 0.294992089], [0.154660851, 0.708073198, -0.466130376, -1.03951144, -0.20535022, -0.132479906, 0.624018847, 1.07627392, -0.658166944, 1.24545324, 0.789031624, 0.426138282, 0.190904021, 1.21994293, 0.0471874587, -0.229926482, 0.0764892548, -0.677665889, 0.242992014, -0.0479068197], [0.172299549, 0.187117621, -0.522395432, 0.665160834, -0.500335455, 0.451181203, -0.789537847, 0.192938641, -0.402782083, 0.0286223125, -0.31835717, -1.08423758, -0.549884379, 0.0418644175, 0.319572419, -0.726968109, -1.05492365, -0.428424537, -0.0980196222, -0.308908731], [-0.397122771, 0.433013707, 0.490658134, 0.378596783, -0.461272269, 0.0458440222, -0.0891160741, -0.706019103, 0.44895038, 0.0516811311, -0.23475717, 0.716467738, 0.389603496, 0.435689598, 0.60769695, 0.366582632, -0.625012159, -0.186824799, 0.509142101, -0.376941502]]> : tensor<4x20xf32>
    %cst_0 = stablehlo.constant dense<[[0.0231947042, 0.184461296, 0.651216745, 0.587333679, 0.408229411, -0.0769906119, 0.41546455, 0.242422894, -0.0661782324, 0.613304734, 0.227230683, -0.332126677, 0.57217133, -0.108288482, 0.271217972, -0.67610079, -0.00316984486, -0.417782903, -0.429783762, -0.849344492], [0.963513135, -0.0621907562, 0.111302704, 0.500204742, -0.049865786, 0.234174743, -0.603345156, 0.0922013372, -0.180803522, 0.228096709, 0.0851121768, -0.615571916, -8.241410e-01, -0.449932784, 0.333580106, 0.193938583, 0.184051663, -0.899425745, -1.19921684, -0.275611728], [-0.145601556, -0.26683408, 1.614550e-01, -0.0738221704, -0.527820647, -0.391109526, 0.0662409514, 0.0346126556, -0.0312225409, 1.01587713, -0.11572998, 0.0553580262, -0.443935245, -0.159221023, 0.235658959, 0.254687279, -0.0694696158, 0.177426517, 0.0253043938, -0.840849101], [-1.4643898, 1.03358734, 0.371597201, -0.0253854897, -0.77727431, -0.570410609, 0.606381595, -1.24691081, -0.14504531, 0.388433784, 0.0640549138, 0.337553591, -0.0586964861, 1.07038414, -0.459733784, -0.609206438, 0.122774601, 0.639327884, -0.0249956101, 0.469129264], [-0.237397641, -0.530070841, 0.626063525, 0.701549768, 0.685636103, -0.1959925, -0.516624391, -0.522959471, -0.100459911, 0.260474086, 0.227708519, -0.64148575, 0.0872839391, 0.00792920496, 0.0403063521, -0.0105977356, -0.0903014764, 0.265320718, 0.0567333214, 0.10080678]]> : tensor<5x20xf32>
    %cst_1 = stablehlo.constant dense<[-0.690755844, 0.395777792, -0.121152021, -2.11516118, 0.483610094, -0.264301568, 0.926281869, -0.162098765, -0.0957425236, 0.211689934, -0.0118564079, -0.446929812, -1.79320049, 1.84268832, -1.57878625, -0.341521949, 0.65313828, 3.800170e-01, 0.567268491, 0.769189774]> : tensor<20xf32>
    %cst_2 = stablehlo.constant dense<[[0.564997435, 0.132949159, 1.299890e+00], [-0.453211546, 0.10168694, -0.161378339], [-0.243792817, 0.128468886, 6.521450e-01], [-0.317614943, -0.317949057, 0.324001253], [0.243281558, 0.875535488, 0.459681898]]> : tensor<5x3xf32>
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

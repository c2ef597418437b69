#dcsr = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : compressed, d1 : compressed) }>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%A: tensor<5x6xf32, #dcsr>) -> tensor<5x6xf32, #dcsr> {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<5x6xf32, #dcsr>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%A : tensor<5x6xf32, #dcsr>) outs(%0 : tensor<5x6xf32, #dcsr>) {
  ^bb0(%in: f32, %out: f32):
    %2 = arith.cmpf ugt, %in, %cst : f32
    %3 = arith.select %2, %in, %cst : f32
    linalg.yield %3 : f32
  } -> tensor<5x6xf32, #dcsr>
  return %1 : tensor<5x6xf32, #dcsr>
}

// Arithmetic with numbers: from the region, from outside, through casts, folded.
#dcsr = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : compressed, d1 : compressed) }>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%A: tensor<4x4xf32, #dcsr>) -> tensor<4x4xf32, #dcsr> {
  %0 = tensor.empty() : tensor<4x4xf32, #dcsr>
  %eighth = arith.constant 1.250000e-01 : f64
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%A : tensor<4x4xf32, #dcsr>) outs(%0 : tensor<4x4xf32, #dcsr>) {
  ^bb0(%in: f32, %out: f32):
    %two = arith.constant 2.0 : f32
    %s = arith.truncf %eighth : f64 to f32
    %2 = arith.mulf %s, %in : f32
    %k = arith.addf %two, %two fastmath<fast> : f32
    %3 = arith.subf %k, %2 : f32
    %4 = arith.subf %3, %two : f32
    linalg.yield %4 : f32
  } -> tensor<4x4xf32, #dcsr>
  return %1 : tensor<4x4xf32, #dcsr>
}

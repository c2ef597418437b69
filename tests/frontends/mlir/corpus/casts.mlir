// Changes of type are no statements.
#m2 = affine_map<(d0, d1) -> (d0, d1)>
#m1 = affine_map<(d0, d1) -> (d0)>
#v = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<4x5xf32>) -> tensor<4xf32> {
  %0 = bufferization.alloc_tensor() : tensor<4x5xf64>
  %1 = linalg.generic {indexing_maps = [#m2, #m2], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x5xf32>) outs(%0 : tensor<4x5xf64>) {
  ^bb0(%in: f32, %out: f64):
    %9 = arith.extf %in : f32 to f64
    linalg.yield %9 : f64
  } -> tensor<4x5xf64>
  %2 = tensor.empty() : tensor<4xf64>
  %3 = linalg.generic {indexing_maps = [#m2, #m1], iterator_types = ["parallel", "reduction"]} ins(%1 : tensor<4x5xf64>) outs(%2 : tensor<4xf64>) {
  ^bb0(%in: f64, %out: f64):
    %9 = arith.addf %in, %out : f64
    linalg.yield %9 : f64
  } -> tensor<4xf64>
  %4 = tensor.empty() : tensor<4xf32>
  %5 = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%3 : tensor<4xf64>) outs(%4 : tensor<4xf32>) {
  ^bb0(%in: f64, %out: f32):
    %9 = arith.truncf %in : f64 to f32
    linalg.yield %9 : f32
  } -> tensor<4xf32>
  %y = linalg.exp ins(%5 : tensor<4xf32>) outs(%4 : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

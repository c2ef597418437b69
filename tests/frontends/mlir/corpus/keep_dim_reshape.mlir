// A dimension that a keep-dim map made, and that a collapse takes away again, is no barrier.
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0, 0)>
func.func @main(%x: tensor<4x6xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4x1xf32>
  %0 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x6xf32>) outs(%e : tensor<4x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %9 = arith.addf %in, %out : f32
    linalg.yield %9 : f32
  } -> tensor<4x1xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4x1xf32>) outs(%e : tensor<4x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %9 = math.exp %in : f32
    linalg.yield %9 : f32
  } -> tensor<4x1xf32>
  %2 = tensor.collapse_shape %1 [[0, 1]] : tensor<4x1xf32> into tensor<4xf32>
  %f = tensor.empty() : tensor<4xf32>
  %3 = linalg.mul ins(%2, %2 : tensor<4xf32>, tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

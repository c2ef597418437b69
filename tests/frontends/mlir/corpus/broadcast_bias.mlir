// A bias that an operation of its own broadcasts, as torch-mlir writes it.
#dcsr = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : compressed, d1 : compressed) }>
#map = affine_map<(d0, d1) -> (d1)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%A: tensor<4x5xf32, #dcsr>, %b: tensor<5xf32>) -> tensor<4x5xf32, #dcsr> {
  %0 = tensor.empty() : tensor<4x5xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<5xf32>) outs(%0 : tensor<4x5xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4x5xf32>
  %2 = tensor.empty() : tensor<4x5xf32, #dcsr>
  %3 = linalg.add ins(%A, %1 : tensor<4x5xf32, #dcsr>, tensor<4x5xf32>) outs(%2 : tensor<4x5xf32, #dcsr>) -> tensor<4x5xf32, #dcsr>
  return %3 : tensor<4x5xf32, #dcsr>
}

// Names inside a region stand before those around it.
#v = affine_map<(d0) -> (d0)>
func.func @main(%0: tensor<5xf32>, %1: tensor<5xf32>) -> tensor<5xf32> {
  %2 = tensor.empty() : tensor<5xf32>
  %3 = linalg.generic {indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]} ins(%1, %0 : tensor<5xf32>, tensor<5xf32>) outs(%2 : tensor<5xf32>) {
  ^bb0(%0: f32, %1: f32, %out: f32):
    %2 = arith.subf %0, %1 : f32
    %3 = math.exp %2 : f32
    linalg.yield %3 : f32
  } -> tensor<5xf32>
  return %3 : tensor<5xf32>
}

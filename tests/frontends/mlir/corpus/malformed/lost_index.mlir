// 3:8 index j is parallel, but the output's map lacks it
func.func @f(%A: tensor<4x5xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<4x6xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (i, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%A : tensor<4x5xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// 4:8 the product starts from no number
func.func @f(%A: tensor<4x5xf32>) -> tensor<4xf32> {
  %z = tensor.empty() : tensor<4xf32>
  // What is not filled is no factor.
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%A : tensor<4x5xf32>) outs(%z : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.mulf %a, %o : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// 4:8 the maximum starts at inf
func.func @f(%A: tensor<4x5xf32>) -> tensor<4xf32> {
  %z = arith.constant dense<0x7F800000> : tensor<4xf32>
  // A maximum that starts at infinity is infinity.
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%A : tensor<4x5xf32>) outs(%z : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.maximumf %a, %o : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

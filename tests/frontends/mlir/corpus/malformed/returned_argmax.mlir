// 2:10 must yield the accumulated output
func.func @f(%A: tensor<4x5xf32>, %m: tensor<4xf32>, %n: tensor<4xi64>) -> tensor<4xi64> {
  %0:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%A : tensor<4x5xf32>) outs(%m, %n : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%a: f32, %o: f32, %i: i64):
    %1 = arith.addf %a, %o : f32
    %2 = linalg.index 1 : index
    linalg.yield %1, %2 : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %0#1 : tensor<4xi64>
}

// k, i, j, with the maps' names permuted in their header only.
#csc = #sparse_tensor.encoding<{ map = (d0, d1) -> (d1 : compressed, d0 : compressed) }>
#dcsr = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : compressed, d1 : compressed) }>
#a = affine_map<(d2, d0, d1) -> (d0, d2)>
#b = affine_map<(d2, d0, d1) -> (d2, d1)>
#c = affine_map<(d2, d0, d1) -> (d0, d1)>
func.func @outer(%A: tensor<5x6xf32, #csc>, %B: tensor<6x4xf32, #dcsr>) -> tensor<5x4xf32, #dcsr> {
  %e = tensor.empty() : tensor<5x4xf32, #dcsr>
  %C = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["reduction", "parallel", "parallel"]}
    ins(%A, %B : tensor<5x6xf32, #csc>, tensor<6x4xf32, #dcsr>) outs(%e : tensor<5x4xf32, #dcsr>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %0 = arith.mulf %in_1, %in : f32
    %1 = arith.addf %0, %out : f32
    linalg.yield %1 : f32
  } -> tensor<5x4xf32, #dcsr>
  return %C : tensor<5x4xf32, #dcsr>
}

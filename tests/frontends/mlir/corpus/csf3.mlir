// A tensor of three dimensions, its last one outermost.
#csf = #sparse_tensor.encoding<{ map = (i, j, k) -> (k : compressed, i : compressed, j : compressed) }>
func.func @ttv(%B: tensor<4x5x6xf32, #csf>, %c: tensor<6xf32>) -> tensor<4x5xf32> {
  %e = tensor.empty() : tensor<4x5xf32>
  %A = linalg.generic {indexing_maps = [affine_map<(k, i, j) -> (i, j, k)>, affine_map<(k, i, j) -> (k)>, affine_map<(k, i, j) -> (i, j)>], iterator_types = ["reduction", "parallel", "parallel"]}
    ins(%B, %c : tensor<4x5x6xf32, #csf>, tensor<6xf32>) outs(%e : tensor<4x5xf32>) {
  ^bb0(%b: f32, %x: f32, %out: f32):
    %0 = arith.mulf %b, %x : f32
    %1 = arith.addf %0, %out : f32
    linalg.yield %1 : f32
  } -> tensor<4x5xf32>
  return %A : tensor<4x5xf32>
}

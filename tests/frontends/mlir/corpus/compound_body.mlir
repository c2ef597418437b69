// A region of several operations becomes several statements; a sum of products of sums, too.
#dcsr = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : compressed, d1 : compressed) }>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @main(%A: tensor<4x5xf32, #dcsr>, %B: tensor<4x5xf32, #dcsr>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]} ins(%A, %B : tensor<4x5xf32, #dcsr>, tensor<4x5xf32, #dcsr>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.addf %a, %b : f32
    %2 = arith.subf %a, %b : f32
    %3 = arith.mulf %1, %2 : f32
    %4 = math.exp %3 : f32
    %5 = arith.addf %o, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

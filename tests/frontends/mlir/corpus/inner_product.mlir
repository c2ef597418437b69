// i, j, k: the second factor is stored by columns.
#csr = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>
#csc = #sparse_tensor.encoding<{ map = (d0, d1) -> (d1 : dense, d0 : compressed) }>
#trait = {
  indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
  iterator_types = ["parallel", "parallel", "reduction"],
  doc = "C(i,j) += A(i,k) * B(k,j)"
}
func.func @inner(%A: tensor<5x6xf32, #csr>, %B: tensor<6x4xf32, #csc>) -> tensor<5x4xf32> {
  %e = tensor.empty() : tensor<5x4xf32>
  %C = linalg.generic #trait
    ins(%A, %B : tensor<5x6xf32, #csr>, tensor<6x4xf32, #csc>)
    outs(%e : tensor<5x4xf32>) {
  ^bb(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<5x4xf32>
  return %C : tensor<5x4xf32>
}

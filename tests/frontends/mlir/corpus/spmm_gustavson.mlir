// The header of the maps is the dataflow order: i, k, j.
#csr = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>
#dcsr = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : compressed, d1 : compressed) }>
func.func @main(%arg0: tensor<6x7xf32, #csr>, %arg1: tensor<7x5xf32, #csr>) -> tensor<6x5xf32, #dcsr> {
  %0 = tensor.empty() : tensor<6x5xf32, #dcsr>
  %1 = linalg.generic {
      indexing_maps = [affine_map<(i, k, j) -> (i, k)>, affine_map<(i, k, j) -> (k, j)>, affine_map<(i, k, j) -> (i, j)>],
      iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%arg0, %arg1 : tensor<6x7xf32, #csr>, tensor<7x5xf32, #csr>)
    outs(%0 : tensor<6x5xf32, #dcsr>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %p, %c : f32
    linalg.yield %s : f32
  } -> tensor<6x5xf32, #dcsr>
  return %1 : tensor<6x5xf32, #dcsr>
}

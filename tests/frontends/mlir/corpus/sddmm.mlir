// Three factors in one iteration space.
#dcsr = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : compressed, d1 : compressed) }>
#trait_sddmm = {
  indexing_maps = [
    affine_map<(i, j, k) -> (i, j)>,  // M
    affine_map<(i, j, k) -> (i, k)>,  // A
    affine_map<(i, j, k) -> (j, k)>,  // B, stored by rows
    affine_map<(i, j, k) -> (i, j)>   // out
  ],
  iterator_types = ["parallel", "parallel", "reduction"]
}
func.func @sddmm(%M: tensor<6x6xf32, #dcsr>, %A: tensor<6x4xf32>, %B: tensor<6x4xf32>) -> tensor<6x6xf32, #dcsr> {
  %0 = tensor.empty() : tensor<6x6xf32, #dcsr>
  %1 = linalg.generic #trait_sddmm
    ins(%M, %A, %B : tensor<6x6xf32, #dcsr>, tensor<6x4xf32>, tensor<6x4xf32>)
    outs(%0 : tensor<6x6xf32, #dcsr>) {
  ^bb0(%m: f32, %a: f32, %b: f32, %x: f32):
    %2 = arith.mulf %a, %b : f32
    %3 = arith.mulf %m, %2 : f32
    %4 = arith.addf %x, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<6x6xf32, #dcsr>
  return %1 : tensor<6x6xf32, #dcsr>
}

// Rows without elements get the bias, too.
#dcsr = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : compressed, d1 : compressed) }>
module @dense_rows attributes {fuseloom.broadcast_add = "dense"} {
  func.func @main(%A: tensor<4x5xf32, #dcsr>, %b: tensor<5xf32>) -> tensor<4x5xf32, #dcsr> {
    %2 = tensor.empty() : tensor<4x5xf32, #dcsr>
    %3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%A, %b : tensor<4x5xf32, #dcsr>, tensor<5xf32>) outs(%2 : tensor<4x5xf32, #dcsr>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %0 = arith.addf %x, %y : f32
      linalg.yield %0 : f32
    } -> tensor<4x5xf32, #dcsr>
    return %3 : tensor<4x5xf32, #dcsr>
  }
}

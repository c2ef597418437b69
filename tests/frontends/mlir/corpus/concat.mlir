#dcsr = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : compressed, d1 : compressed) }>
func.func @main(%A: tensor<4x3xf32, #dcsr>, %B: tensor<4x2xf32, #dcsr>, %C: tensor<4x3xf32, #dcsr>) -> tensor<4x8xf32, #dcsr> {
  %e = tensor.empty() : tensor<4x3xf32, #dcsr>
  %0 = linalg.add ins(%A, %C : tensor<4x3xf32, #dcsr>, tensor<4x3xf32, #dcsr>) outs(%e : tensor<4x3xf32, #dcsr>) -> tensor<4x3xf32, #dcsr>
  %1 = tensor.concat dim(1) %0, %B, %C : (tensor<4x3xf32, #dcsr>, tensor<4x2xf32, #dcsr>, tensor<4x3xf32, #dcsr>) -> tensor<4x8xf32, #dcsr>
  return %1 : tensor<4x8xf32, #dcsr>
}

// The transpose of an intermediate is a statement.
#dcsr = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : compressed, d1 : compressed) }>
func.func @main(%A: tensor<4x5xf32, #dcsr>, %B: tensor<4x5xf32, #dcsr>) -> tensor<5x4xf32, #dcsr> {
  %e = tensor.empty() : tensor<4x5xf32, #dcsr>
  %0 = linalg.mul ins(%A, %B : tensor<4x5xf32, #dcsr>, tensor<4x5xf32, #dcsr>) outs(%e : tensor<4x5xf32, #dcsr>) -> tensor<4x5xf32, #dcsr>
  %f = tensor.empty() : tensor<5x4xf32, #dcsr>
  %1 = linalg.transpose ins(%0 : tensor<4x5xf32, #dcsr>) outs(%f : tensor<5x4xf32, #dcsr>) permutation = [1, 0]
  return %1 : tensor<5x4xf32, #dcsr>
}

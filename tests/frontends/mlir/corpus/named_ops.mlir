#csr = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>
func.func @main(%A: tensor<5x6xf32, #csr>, %B: tensor<6x4xf32>, %C: tensor<5x4xf32>) -> tensor<5x4xf32> {
  %cst = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x4xf32>
  %f = linalg.fill ins(%cst : f32) outs(%e : tensor<5x4xf32>) -> tensor<5x4xf32>
  %0 = linalg.matmul ins(%A, %B : tensor<5x6xf32, #csr>, tensor<6x4xf32>) outs(%f : tensor<5x4xf32>) -> tensor<5x4xf32>
  %1 = linalg.add ins(%0, %C : tensor<5x4xf32>, tensor<5x4xf32>) outs(%e : tensor<5x4xf32>) -> tensor<5x4xf32>
  %2 = linalg.exp ins(%1 : tensor<5x4xf32>) outs(%e : tensor<5x4xf32>) -> tensor<5x4xf32>
  %3 = linalg.mul {cast = #linalg.type_fn<cast_signed>} ins(%2, %0 : tensor<5x4xf32>, tensor<5x4xf32>) outs(%e : tensor<5x4xf32>) -> tensor<5x4xf32>
  return %3 : tensor<5x4xf32>
}

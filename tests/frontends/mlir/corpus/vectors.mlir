// vecmat, dot, and a transposed matvec by matmul_transpose.
func.func @main(%x: tensor<4xf32>, %A: tensor<4x5xf32>, %B: tensor<3x5xf32>, %y: tensor<5xf32>) -> (tensor<f32>, tensor<4x3xf32>) {
  %e5 = tensor.empty() : tensor<5xf32>
  %0 = linalg.vecmat ins(%x, %A : tensor<4xf32>, tensor<4x5xf32>) outs(%e5 : tensor<5xf32>) -> tensor<5xf32>
  %e0 = tensor.empty() : tensor<f32>
  %1 = linalg.dot ins(%0, %y : tensor<5xf32>, tensor<5xf32>) outs(%e0 : tensor<f32>) -> tensor<f32>
  %e43 = tensor.empty() : tensor<4x3xf32>
  %2 = linalg.matmul_transpose_b ins(%A, %B : tensor<4x5xf32>, tensor<3x5xf32>) outs(%e43 : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %1, %2 : tensor<f32>, tensor<4x3xf32>
}

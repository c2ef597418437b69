func.func @main(%A: tensor<2x3x4xf32>, %B: tensor<2x4x5xf32>, %v: tensor<5xf32>) -> tensor<2x3x5xf32> {
  %e = tensor.empty() : tensor<2x3x5xf32>
  %0 = linalg.batch_matmul ins(%A, %B : tensor<2x3x4xf32>, tensor<2x4x5xf32>) outs(%e : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %1 = linalg.broadcast ins(%v : tensor<5xf32>) outs(%e : tensor<2x3x5xf32>) dimensions = [0, 1]
  %2 = linalg.sub ins(%0, %1 : tensor<2x3x5xf32>, tensor<2x3x5xf32>) outs(%e : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  return %2 : tensor<2x3x5xf32>
}

// 3:8 index k has size 4, but dimension 0 of operand 1 is 5
func.func @f(%A: tensor<3x4xf32>, %B: tensor<5x3xf32>) -> tensor<3x3xf32> {
  %e = tensor.empty() : tensor<3x3xf32>
  %0 = linalg.matmul ins(%A, %B : tensor<3x4xf32>, tensor<5x3xf32>) outs(%e : tensor<3x3xf32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}

// 2:8 the operation linalg.convolve_2d is outside the subset
func.func @f(%A: tensor<4xf32>) {
  %0 = linalg.convolve_2d ins(%A : tensor<4xf32>) outs(%A : tensor<4xf32>) -> tensor<4xf32>
}

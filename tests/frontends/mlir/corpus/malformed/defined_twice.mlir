// 3:3 %e is defined twice
func.func @f(%A: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  return %e : tensor<4xf32>
}

// 1:14 dimension 0 of A is 0
func.func @f(%A: tensor<0x4xf32>) -> tensor<0x4xf32> {
  %0 = linalg.exp ins(%A : tensor<0x4xf32>) outs(%A : tensor<0x4xf32>) -> tensor<0x4xf32>
  return %0 : tensor<0x4xf32>
}

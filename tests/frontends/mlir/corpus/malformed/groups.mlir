// 2:8 dimension 1 has size 6, its group 8
func.func @f(%A: tensor<4x6xf32>) -> tensor<4x2x4xf32> {
  %0 = tensor.expand_shape %A [[0], [1, 2]] output_shape [4, 2, 4] : tensor<4x6xf32> into tensor<4x2x4xf32>
  return %0 : tensor<4x2x4xf32>
}

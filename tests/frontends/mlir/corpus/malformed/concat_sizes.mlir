// 2:8 dimension 0 of the result is 9, its operands have 4 + 4
func.func @f(%A: tensor<4xf32>) -> tensor<9xf32> {
  %0 = tensor.concat dim(0) %A, %A : (tensor<4xf32>, tensor<4xf32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

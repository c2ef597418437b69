// 3:1 the end of the text is not expected here
func.func @f(%A: tensor<4xf32>) {
  %0 = tensor.empty() : tensor<4xf32>

// 2:8 function @h is not defined
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @h(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

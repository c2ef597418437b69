// Names that the language of programs does not have, or that mean something in it.
func.func @"a function"(%arg0.x: tensor<4xf32>, %relu: tensor<4xf32>, %c-1: tensor<4xf32>) -> tensor<4xf32> {
  %$e = tensor.empty() : tensor<4xf32>
  %0 = linalg.mul ins(%arg0.x, %relu : tensor<4xf32>, tensor<4xf32>) outs(%$e : tensor<4xf32>) -> tensor<4xf32>
  %output = linalg.mul ins(%0, %c-1 : tensor<4xf32>, tensor<4xf32>) outs(%$e : tensor<4xf32>) -> tensor<4xf32>
  return %output : tensor<4xf32>
}

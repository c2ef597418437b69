// 2:8 the generic form of an operation
func.func @f(%A: tensor<4xf32>) {
  %0 = "tosa.add"(%A, %A) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
}

// 2:29 the constant has shape 2, its type 3
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  %w = arith.constant dense<[1.0, 2.0]> : tensor<3xf32>
  return %a : tensor<2xf32>
}

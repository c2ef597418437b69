// A reshape that is neither an expansion nor a collapse.
func.func @main(%x: tensor<4x6xf32>) -> tensor<3x8xf32> {
  %e = tensor.empty() : tensor<4x6xf32>
  %0 = linalg.exp ins(%x : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %shape = arith.constant dense<[3, 8]> : tensor<2xindex>
  %1 = tensor.reshape %0(%shape) : (tensor<4x6xf32>, tensor<2xindex>) -> tensor<3x8xf32>
  %f = tensor.empty() : tensor<3x8xf32>
  %2 = linalg.mul ins(%1, %1 : tensor<3x8xf32>, tensor<3x8xf32>) outs(%f : tensor<3x8xf32>) -> tensor<3x8xf32>
  return %2 : tensor<3x8xf32>
}

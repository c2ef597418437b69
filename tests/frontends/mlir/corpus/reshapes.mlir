// Heads are split and merged: two barriers between three regions of one function.
func.func @main(%x: tensor<4x6xf32>, %w: tensor<6x6xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<4x6xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x6xf32>, tensor<6x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = linalg.exp ins(%0 : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %h = tensor.expand_shape %1 [[0], [1, 2]] output_shape [4, 2, 3] : tensor<4x6xf32> into tensor<4x2x3xf32>
  %g = tensor.empty() : tensor<4x2x3xf32>
  %2 = linalg.mul ins(%h, %h : tensor<4x2x3xf32>, tensor<4x2x3xf32>) outs(%g : tensor<4x2x3xf32>) -> tensor<4x2x3xf32>
  %m = tensor.collapse_shape %2 [[0], [1, 2]] : tensor<4x2x3xf32> into tensor<4x6xf32>
  %3 = linalg.add ins(%m, %x : tensor<4x6xf32>, tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %4 = linalg.add ins(%3, %x : tensor<4x6xf32>, tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %4 : tensor<4x6xf32>
}

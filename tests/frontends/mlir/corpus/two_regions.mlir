// Two functions that a third calls: two regions.
#dcsr = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : compressed, d1 : compressed) }>
module @two_layers {
  func.func private @layer(%A: tensor<6x6xf32, #dcsr>, %X: tensor<6x4xf32>, %W: tensor<4x4xf32>) -> tensor<6x4xf32> {
    %e = tensor.empty() : tensor<6x4xf32>
    %0 = linalg.matmul ins(%A, %X : tensor<6x6xf32, #dcsr>, tensor<6x4xf32>) outs(%e : tensor<6x4xf32>) -> tensor<6x4xf32>
    %1 = linalg.matmul ins(%0, %W : tensor<6x4xf32>, tensor<4x4xf32>) outs(%e : tensor<6x4xf32>) -> tensor<6x4xf32>
    return %1 : tensor<6x4xf32>
  }
  func.func @main(%A: tensor<6x6xf32, #dcsr>, %X: tensor<6x4xf32>, %W: tensor<4x4xf32>, %V: tensor<4x4xf32>) -> tensor<6x4xf32> {
    %0 = call @layer(%A, %X, %W) : (tensor<6x6xf32, #dcsr>, tensor<6x4xf32>, tensor<4x4xf32>) -> tensor<6x4xf32>
    %1 = func.call @layer(%A, %0, %V) : (tensor<6x6xf32, #dcsr>, tensor<6x4xf32>, tensor<4x4xf32>) -> tensor<6x4xf32>
    return %1 : tensor<6x4xf32>
  }
}

// Functions that nothing calls are programs side by side; the empty main adds nothing.
module {
  func.func @first(%a: tensor<5xf32>, %b: tensor<5xf32>) -> tensor<5xf32> {
    %e = tensor.empty() : tensor<5xf32>
    %0 = linalg.mul ins(%a, %b : tensor<5xf32>, tensor<5xf32>) outs(%e : tensor<5xf32>) -> tensor<5xf32>
    %1 = linalg.exp ins(%0 : tensor<5xf32>) outs(%e : tensor<5xf32>) -> tensor<5xf32>
    return %1 : tensor<5xf32>
  }
  func.func @second(%a: tensor<4xf32>) -> tensor<4xf32> {
    %e = tensor.empty() : tensor<4xf32>
    %0 = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @main() { return }
}

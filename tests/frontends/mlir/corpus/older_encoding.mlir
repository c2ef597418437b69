// Older still, with widths, and non-unique levels by suffix.
#COO = #sparse_tensor.encoding<{ dimLevelType = [ "compressed-nu", "singleton" ], pointerBitWidth = 32, indexBitWidth = 32 }>
#CSC = #sparse_tensor.encoding<{ dimLevelType = [ "dense", "compressed" ], dimOrdering = affine_map<(i, j) -> (j, i)> }>
func.func @main(%A: tensor<4x6xf32, #COO>, %B: tensor<4x6xf32, #CSC>) -> tensor<4x6xf32> {
  %0 = tensor.empty() : tensor<4x6xf32>
  %1 = linalg.add ins(%A, %B : tensor<4x6xf32, #COO>, tensor<4x6xf32, #CSC>) outs(%0 : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}

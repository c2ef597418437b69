// An encoding without levels is dense, and so is one whose levels all are; this one by columns.
#nothing = #sparse_tensor.encoding<{ }>
#columns = #sparse_tensor.encoding<{ map = (i, j) -> (j : dense, i : dense) }>
func.func @main(%A: tensor<4x5xf32, #nothing>, %B: tensor<5x3xf32, #columns>) -> tensor<4x3xf32> {
  %0 = tensor.empty() : tensor<4x3xf32>
  %1 = linalg.matmul ins(%A, %B : tensor<4x5xf32, #nothing>, tensor<5x3xf32, #columns>) outs(%0 : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

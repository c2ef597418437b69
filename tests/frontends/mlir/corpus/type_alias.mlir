!matrix = tensor<4x4xf32>
func.func @main(%A: !matrix, %B: !matrix) -> !matrix {
  %e = tensor.empty() : !matrix
  %0 = linalg.matmul ins(%A, %B : !matrix, !matrix) outs(%e : !matrix) -> !matrix
  return %0 : !matrix
}

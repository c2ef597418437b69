// Sizes written '?' follow from what they are used with.
#csr = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>
func.func @main(%A: tensor<?x6xf32, #csr>, %x: tensor<?xf32>, %b: tensor<5xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %cst = arith.constant 0.0 : f32
  %n = tensor.dim %A, %c0 : tensor<?x6xf32, #csr>
  %0 = tensor.empty(%n) : tensor<?xf32>
  %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<?xf32>) -> tensor<?xf32>
  %2 = linalg.matvec ins(%A, %x : tensor<?x6xf32, #csr>, tensor<?xf32>) outs(%1 : tensor<?xf32>) -> tensor<?xf32>
  %3 = tensor.cast %b : tensor<5xf32> to tensor<?xf32>
  %4 = linalg.add ins(%2, %3 : tensor<?xf32>, tensor<?xf32>) outs(%0 : tensor<?xf32>) -> tensor<?xf32>
  return %4 : tensor<?xf32>
}

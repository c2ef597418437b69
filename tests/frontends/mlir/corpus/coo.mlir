#COO = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : compressed(nonunique), d1 : singleton), posWidth = 64, crdWidth = 32 }>
func.func @main(%A: tensor<6x6xf32, #COO>, %x: tensor<6xf32>) -> tensor<6xf32> {
  %0 = tensor.empty() : tensor<6xf32>
  %1 = linalg.matvec ins(%A, %x : tensor<6x6xf32, #COO>, tensor<6xf32>) outs(%0 : tensor<6xf32>) -> tensor<6xf32>
  return %1 : tensor<6xf32>
}

// Constants are data: lists, one number for all, bytes, coordinates.
#dcsr = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : compressed, d1 : compressed) }>
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %w = arith.constant dense<[[1.0, 2.0], [0.0, -3.5], [4.0e-1, 0x40A00000]]> : tensor<3x2xf32>
  %ones = arith.constant dense<1.000000e+00> : tensor<2x2xf32>
  %bytes = arith.constant dense<"0x0000803F0000004000004040000080BF"> : tensor<2x2xf32>
  %few = arith.constant sparse<[[0, 1], [1, 0]], [2.0, -1.0]> : tensor<2x2xf32>
  %s = sparse_tensor.convert %few : tensor<2x2xf32> to tensor<2x2xf32, #dcsr>
  %e = tensor.empty() : tensor<2x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<2x3xf32>, tensor<3x2xf32>) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = linalg.add ins(%0, %ones : tensor<2x2xf32>, tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = linalg.sub ins(%1, %bytes : tensor<2x2xf32>, tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = linalg.mul ins(%2, %s : tensor<2x2xf32>, tensor<2x2xf32, #dcsr>) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %3 : tensor<2x2xf32>
}

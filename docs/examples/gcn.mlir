// Two layers of a graph convolutional network, one function per layer: relu(A X W1 + b1), then
// A H W2.  Run it: fuseloom simulate docs/examples/gcn.mlir
#dcsr = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : compressed, d1 : compressed) }>
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
module @gcn {
  func.func private @layer1(%A: tensor<34x34xf32, #dcsr>, %X: tensor<34x16xf32>,
                            %W1: tensor<16x8xf32, #dcsr>, %b1: tensor<8xf32>) -> tensor<34x8xf32> {
    %zero = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<34x16xf32>
    %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<34x16xf32>) -> tensor<34x16xf32>
    %AX = linalg.matmul ins(%A, %X : tensor<34x34xf32, #dcsr>, tensor<34x16xf32>)
      outs(%1 : tensor<34x16xf32>) -> tensor<34x16xf32>
    %2 = tensor.empty() : tensor<34x8xf32>
    %3 = linalg.fill ins(%zero : f32) outs(%2 : tensor<34x8xf32>) -> tensor<34x8xf32>
    %AXW = linalg.matmul ins(%AX, %W1 : tensor<34x16xf32>, tensor<16x8xf32, #dcsr>)
      outs(%3 : tensor<34x8xf32>) -> tensor<34x8xf32>
    %H = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]}
      ins(%AXW, %b1 : tensor<34x8xf32>, tensor<8xf32>) outs(%2 : tensor<34x8xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %4 = arith.addf %in, %in_0 : f32
      %5 = arith.cmpf ugt, %4, %zero : f32
      %6 = arith.select %5, %4, %zero : f32
      linalg.yield %6 : f32
    } -> tensor<34x8xf32>
    return %H : tensor<34x8xf32>
  }
  func.func private @layer2(%A: tensor<34x34xf32, #dcsr>, %H: tensor<34x8xf32>,
                            %W2: tensor<8x4xf32, #dcsr>) -> tensor<34x4xf32> {
    %0 = tensor.empty() : tensor<34x8xf32>
    %AH = linalg.matmul ins(%A, %H : tensor<34x34xf32, #dcsr>, tensor<34x8xf32>)
      outs(%0 : tensor<34x8xf32>) -> tensor<34x8xf32>
    %1 = tensor.empty() : tensor<34x4xf32>
    %Y = linalg.matmul ins(%AH, %W2 : tensor<34x8xf32>, tensor<8x4xf32, #dcsr>)
      outs(%1 : tensor<34x4xf32>) -> tensor<34x4xf32>
    return %Y : tensor<34x4xf32>
  }
  func.func @main(%A: tensor<34x34xf32, #dcsr>, %X: tensor<34x16xf32>, %W1: tensor<16x8xf32, #dcsr>,
                  %b1: tensor<8xf32>, %W2: tensor<8x4xf32, #dcsr>) -> tensor<34x4xf32> {
    %H = call @layer1(%A, %X, %W1, %b1) : (tensor<34x34xf32, #dcsr>, tensor<34x16xf32>, tensor<16x8xf32, #dcsr>, tensor<8xf32>) -> tensor<34x8xf32>
    %Y = call @layer2(%A, %H, %W2) : (tensor<34x34xf32, #dcsr>, tensor<34x8xf32>, tensor<8x4xf32, #dcsr>) -> tensor<34x4xf32>
    return %Y : tensor<34x4xf32>
  }
}

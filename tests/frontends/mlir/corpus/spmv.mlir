// A sparse matrix times a dense vector, the plainest file.
#csr = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
#map2 = affine_map<(d0, d1) -> (d0)>
module {
  func.func @spmv(%A: tensor<8x6xf32, #csr>, %x: tensor<6xf32>) -> tensor<8xf32> {
    %zero = arith.constant 0.0 : f32
    %0 = tensor.empty() : tensor<8xf32>
    %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<8xf32>) -> tensor<8xf32>
    %y = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "reduction"]} ins(%A, %x : tensor<8x6xf32, #csr>, tensor<6xf32>) outs(%1 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %2 = arith.mulf %in, %in_0 : f32
      %3 = arith.addf %out, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<8xf32>
    return %y : tensor<8xf32>
  }
}

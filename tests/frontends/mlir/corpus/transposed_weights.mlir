// A weight as a resource, transposed into the format that the product wants; a bias beside it.
#dcsr = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : compressed, d1 : compressed) }>
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1, d0)>
#map2 = affine_map<(d0, d1) -> (d1)>
func.func @linear(%x: tensor<5x6xf32, #dcsr>) -> tensor<5x4xf32> {
  %w = arith.constant dense_resource<torch_tensor_4_6_torch.float32> : tensor<4x6xf32>
  %b = arith.constant dense<[0.5, -0.5, 0.25, 1.0]> : tensor<4xf32>
  %cst = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<6x4xf32, #dcsr>
  %wt = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<4x6xf32>) outs(%0 : tensor<6x4xf32, #dcsr>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<6x4xf32, #dcsr>
  %1 = tensor.empty() : tensor<5x4xf32>
  %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<5x4xf32>) -> tensor<5x4xf32>
  %3 = linalg.matmul ins(%x, %wt : tensor<5x6xf32, #dcsr>, tensor<6x4xf32, #dcsr>) outs(%2 : tensor<5x4xf32>) -> tensor<5x4xf32>
  %4 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %b : tensor<5x4xf32>, tensor<4xf32>) outs(%1 : tensor<5x4xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %5 = arith.addf %in, %in_0 : f32
    linalg.yield %5 : f32
  } -> tensor<5x4xf32>
  return %4 : tensor<5x4xf32>
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_4_6_torch.float32: "0x04000000"
    }
  }
#-}

// A layer norm through f64, as torch-mlir writes it.
#m2 = affine_map<(d0, d1) -> (d0, d1)>
#m1 = affine_map<(d0, d1) -> (d0)>
#v = affine_map<(d0) -> (d0)>
func.func @norm(%x: tensor<5x4xf32>) -> tensor<5x4xf32> {
  %n = arith.constant 4.0 : f32
  %eps = arith.constant 1.0E-5 : f64
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<5xf32>
  %e2 = tensor.empty() : tensor<5x4xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<5xf32>) -> tensor<5xf32>
  %t = linalg.generic {indexing_maps = [#m2, #m1], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<5x4xf32>) outs(%f1 : tensor<5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<5xf32>
  %mean = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%t : tensor<5xf32>) outs(%e1 : tensor<5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.divf %in, %n : f32
    linalg.yield %0 : f32
  } -> tensor<5xf32>
  %c = linalg.generic {indexing_maps = [#m2, #m1, #m2], iterator_types = ["parallel", "parallel"]} ins(%x, %mean : tensor<5x4xf32>, tensor<5xf32>) outs(%e2 : tensor<5x4xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %0 = arith.subf %in, %in_0 : f32
    linalg.yield %0 : f32
  } -> tensor<5x4xf32>
  %sq = linalg.generic {indexing_maps = [#m2, #m2, #m1], iterator_types = ["parallel", "reduction"]} ins(%c, %c : tensor<5x4xf32>, tensor<5x4xf32>) outs(%f1 : tensor<5xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %0 = arith.mulf %in, %in_0 : f32
    %1 = arith.addf %0, %out : f32
    linalg.yield %1 : f32
  } -> tensor<5xf32>
  %r = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%sq : tensor<5xf32>) outs(%e1 : tensor<5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.divf %in, %n : f32
    %1 = arith.truncf %eps : f64 to f32
    %2 = arith.addf %0, %1 : f32
    %3 = math.rsqrt %2 : f32
    linalg.yield %3 : f32
  } -> tensor<5xf32>
  %y = linalg.generic {indexing_maps = [#m2, #m1, #m2], iterator_types = ["parallel", "parallel"]} ins(%c, %r : tensor<5x4xf32>, tensor<5xf32>) outs(%e2 : tensor<5x4xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %0 = arith.mulf %in, %in_0 : f32
    linalg.yield %0 : f32
  } -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

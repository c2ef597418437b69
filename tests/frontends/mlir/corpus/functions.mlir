// Sigmoid and GELU as compositions; logarithm; rsqrt by a root; negation.
#v = affine_map<(d0) -> (d0)>
func.func @main(%a: tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %e = tensor.empty() : tensor<6xf32>
  %one = arith.constant 1.0 : f32
  %sigmoid = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%a : tensor<6xf32>) outs(%e : tensor<6xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.negf %x : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.divf %one, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<6xf32>
  %root = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%sigmoid : tensor<6xf32>) outs(%e : tensor<6xf32>) {
  ^bb0(%x: f32, %o: f32):
    %1 = math.sqrt %x : f32
    %3 = arith.divf %one, %1 : f32
    linalg.yield %3 : f32
  } -> tensor<6xf32>
  %logarithm = linalg.log ins(%root : tensor<6xf32>) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %gelu = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%a : tensor<6xf32>) outs(%e : tensor<6xf32>) {
  ^bb0(%x: f32, %o: f32):
    %half = arith.constant 5.000000e-01 : f32
    %c = arith.constant 0.707106769 : f32
    %0 = arith.mulf %x, %c : f32
    %1 = math.erf %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.mulf %2, %half : f32
    %4 = arith.mulf %x, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<6xf32>
  return %logarithm, %gelu : tensor<6xf32>, tensor<6xf32>
}

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
builtin.module {
  func.func @main(%A: tensor<4x5xf64>) -> tensor<4xf64> {
    %z = arith.constant 0x0000000000000000 : f64
    %e = tensor.empty() : tensor<4xf64>
    %f = linalg.fill ins(%z : f64) outs(%e : tensor<4xf64>) -> tensor<4xf64>
    %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>]} ins(%A : tensor<4x5xf64>) outs(%f : tensor<4xf64>) {
    ^bb0(%a: f64, %o: f64):
      %1 = arith.addf %a, %o : f64
      linalg.yield %1 : f64
    } -> tensor<4xf64>
    func.return %0 : tensor<4xf64>
  }
}

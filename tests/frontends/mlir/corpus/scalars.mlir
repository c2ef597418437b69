// A number as an argument, read inside a region; a number as an operand; a tensor without dimensions.
#v = affine_map<(d0) -> (d0)>
#n = affine_map<(d0) -> ()>
func.func @main(%a: tensor<5xf32>, %alpha: f32, %beta: tensor<f32>) -> tensor<5xf32> {
  %e = tensor.empty() : tensor<5xf32>
  %two = arith.constant 2.0 : f32
  %0 = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%a : tensor<5xf32>) outs(%e : tensor<5xf32>) {
  ^bb0(%x: f32, %o: f32):
    %1 = arith.mulf %x, %alpha : f32
    linalg.yield %1 : f32
  } -> tensor<5xf32>
  %2 = linalg.generic {indexing_maps = [#v, #n, #n, #v], iterator_types = ["parallel"]} ins(%0, %beta, %two : tensor<5xf32>, tensor<f32>, f32) outs(%e : tensor<5xf32>) {
  ^bb0(%x: f32, %b: f32, %t: f32, %o: f32):
    %1 = arith.divf %x, %b : f32
    %3 = arith.mulf %1, %t : f32
    linalg.yield %3 : f32
  } -> tensor<5xf32>
  return %2 : tensor<5xf32>
}

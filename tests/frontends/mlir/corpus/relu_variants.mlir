// Four ways to say relu, and one maximum by comparison.
#v = affine_map<(d0) -> (d0)>
#r = affine_map<(d0) -> ()>
func.func @main(%a: tensor<7xf32>) -> (tensor<7xf32>, tensor<f32>) {
  %e = tensor.empty() : tensor<7xf32>
  %b = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%a : tensor<7xf32>) outs(%e : tensor<7xf32>) {
  ^bb0(%x: f32, %o: f32):
    %z = arith.constant 0.0 : f32
    %m = arith.maximumf %z, %x : f32
    linalg.yield %m : f32
  } -> tensor<7xf32>
  %c = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%b : tensor<7xf32>) outs(%e : tensor<7xf32>) {
  ^bb0(%x: f32, %o: f32):
    %z = arith.constant 0.0 : f32
    %p = arith.cmpf olt, %x, %z : f32
    %m = arith.select %p, %z, %x : f32
    linalg.yield %m : f32
  } -> tensor<7xf32>
  %i = arith.constant 0xFF800000 : f32
  %s = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%i : f32) outs(%s : tensor<f32>) -> tensor<f32>
  %d = linalg.generic {indexing_maps = [#v, #r], iterator_types = ["reduction"]} ins(%c : tensor<7xf32>) outs(%f : tensor<f32>) {
  ^bb0(%x: f32, %o: f32):
    %p = arith.cmpf ogt, %x, %o : f32
    %m = arith.select %p, %x, %o : f32
    linalg.yield %m : f32
  } -> tensor<f32>
  return %c, %d : tensor<7xf32>, tensor<f32>
}

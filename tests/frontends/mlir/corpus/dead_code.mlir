// What no returned value needs is left out, and so are the arguments only it reads.
func.func @main(%a: tensor<5xf32>, %unused: tensor<9x9xf32>, %i: index) -> tensor<5xf32> {
  %e = tensor.empty() : tensor<5xf32>
  %f = tensor.empty() : tensor<9x9xf32>
  %dead = linalg.exp ins(%unused : tensor<9x9xf32>) outs(%f : tensor<9x9xf32>) -> tensor<9x9xf32>
  %0 = linalg.exp ins(%a : tensor<5xf32>) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

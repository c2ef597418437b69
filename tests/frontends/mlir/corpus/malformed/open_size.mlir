// 1:14 dimension 0 of A is '?'
func.func @f(%A: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.exp ins(%A : tensor<?xf32>) outs(%A : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

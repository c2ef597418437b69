// 1:34 #csr is not defined
func.func @f(%A: tensor<4x4xf32, #csr>) { return }

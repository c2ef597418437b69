// 1:11 no function returns a tensor
func.func @f(%A: tensor<4xf32>) { return }

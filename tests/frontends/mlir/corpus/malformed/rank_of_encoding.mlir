// 2:18 the encoding has 1 levels, the tensor 2
#v = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
func.func @f(%A: tensor<4x4xf32, #v>) { return }

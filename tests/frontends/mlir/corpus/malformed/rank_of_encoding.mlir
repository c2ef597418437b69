// 2:18 the encoding has 1 level, the tensor 2
#v = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
func.func @f(%A: tensor<4x4xf32, #v>) { return }

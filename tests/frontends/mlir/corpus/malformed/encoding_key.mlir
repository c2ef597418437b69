// 1:32 an encoding has no mpa
#v = #sparse_tensor.encoding<{ mpa = (i, j) -> (i : dense, j : compressed) }>

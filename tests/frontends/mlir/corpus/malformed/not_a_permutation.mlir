// 1:38 must permute its dimensions
#v = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, i : compressed) }>

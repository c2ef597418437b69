// 1:51 a level holds one dimension
#v = #sparse_tensor.encoding<{ map = (i, j) -> (i floordiv 2 : dense, j : dense) }>

// 1:49 the map has no dimension k
#v = #sparse_tensor.encoding<{ map = (i, j) -> (k floordiv 2 : dense, j : dense) }>

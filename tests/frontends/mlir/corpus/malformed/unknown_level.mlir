// 1:53 no level format is called 'compresed'
#v = #sparse_tensor.encoding<{ map = (i, j) -> (i : compresed, j : dense) }>

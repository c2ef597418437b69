// 1:28 a result of a map is a dimension or the constant 0
#m = affine_map<(i, j) -> (i + j)>

// 1:30 a result of a map with floordiv
#m = affine_map<(i, j) -> (i floordiv 2)>

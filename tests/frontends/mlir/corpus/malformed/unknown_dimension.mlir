// 1:31 the map has no dimension k
#m = affine_map<(i, j) -> (i, k)>

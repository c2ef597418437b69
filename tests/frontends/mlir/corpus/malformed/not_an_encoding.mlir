// 2:34 #map is no encoding
#map = affine_map<(i) -> (i)>
func.func @f(%A: tensor<4x4xf32, #map>) { return }

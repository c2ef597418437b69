// 1:18 'memref' is no type of the subset
func.func @f(%A: memref<4xf32>) { return }

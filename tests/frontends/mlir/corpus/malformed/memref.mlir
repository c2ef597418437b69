// 1:18 it is a memref
func.func @f(%A: memref<4xf32>) { return }

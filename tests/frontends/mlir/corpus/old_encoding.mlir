// The spelling of encodings before 2023.
#SparseMatrix = #sparse_tensor.encoding<{ lvlTypes = [ "compressed", "compressed" ] }>
#ByColumns = #sparse_tensor.encoding<{ lvlTypes = [ "dense", "compressed" ], dimToLvl = affine_map<(i, j) -> (j, i)> }>
func.func @main(%A: tensor<5x6xf32, #SparseMatrix>, %B: tensor<5x6xf32, #ByColumns>) -> tensor<5x6xf32, #SparseMatrix> {
  %0 = tensor.empty() : tensor<5x6xf32, #SparseMatrix>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%A, %B : tensor<5x6xf32, #SparseMatrix>, tensor<5x6xf32, #ByColumns>) outs(%0 : tensor<5x6xf32, #SparseMatrix>) {
  ^bb0(%a: f32, %b: f32, %x: f32):
    %2 = arith.mulf %a, %b : f32
    linalg.yield %2 : f32
  } -> tensor<5x6xf32, #SparseMatrix>
  return %1 : tensor<5x6xf32, #SparseMatrix>
}

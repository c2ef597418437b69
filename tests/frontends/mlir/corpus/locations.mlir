// Locations and attributes that printers leave everywhere.
#loc = loc(unknown)
#loc1 = loc("file.py":3:4)
#v = affine_map<(d0) -> (d0)>
module attributes {llvm.target_triple = "x86_64", dlti.spec = #dlti.dl_spec<index = 64 : i32>} {
  func.func public @main(%arg0: tensor<5xf32> {bufferization.writable = false, ml.name = "x"} loc("x"(#loc1)), %arg1: tensor<5xf32> loc(unknown)) -> (tensor<5xf32> {ml.result}) attributes {llvm.emit_c_interface} {
    %0 = tensor.empty() : tensor<5xf32> loc(#loc)
    %1 = linalg.generic {iterator_types = ["parallel"], library_call = "none", indexing_maps = [#v, #v, #v]} ins(%arg0, %arg1 : tensor<5xf32>, tensor<5xf32>) outs(%0 : tensor<5xf32>) attrs = {sorted = true} {
    ^bb0(%in: f32 loc("a"), %in_0: f32 loc("b"), %out: f32 loc("c")):
      %2 = arith.addf %in, %in_0 {tag = "x"} : f32 loc(#loc1)
      linalg.yield %2 : f32 loc(#loc)
    } -> tensor<5xf32> loc(callsite("f" at "g.py":1:2))
    return %1 : tensor<5xf32> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc2 = loc(fused[#loc, #loc1])

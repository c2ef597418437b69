// A declaration without a body, an empty module, several modules.
module { }
module {
  func.func private @printMemrefF32(tensor<*xf32>) attributes { llvm.emit_c_interface }
}
module {
  func.func @main(%a: tensor<3xf32>) -> tensor<3xf32> {
    %e = tensor.empty() : tensor<3xf32>
    %0 = linalg.exp ins(%a : tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}

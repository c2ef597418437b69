// The second half of a decoder with a batch of one: what attention gives is projected, added to what
// came in, normalised, and goes through a network of two layers, around which it is added again.
// Then the next decoder begins: another norm and its projection.
#row = affine_map<(b, s, w) -> (b, s, w)>
#one = affine_map<(b, s, w) -> (0, s, w)>
#kept = affine_map<(b, s, w) -> (b, s, 0)>
#mean = affine_map<(b, s, w) -> (0, s, 0)>
#bias = affine_map<(b, s, w) -> (w)>
#left = affine_map<(b, s, o, w) -> (b, s, w)>
#right = affine_map<(b, s, o, w) -> (w, o)>
#made = affine_map<(b, s, o, w) -> (b, s, o)>
#here = affine_map<(r, c) -> (r, c)>
#turned = affine_map<(r, c) -> (c, r)>
func.func @tail(%attended: tensor<1x4x6xf32>, %residual: tensor<1x4x6xf32>, %wo: tensor<6x6xf32>, %bo: tensor<6xf32>,
                %w1: tensor<8x6xf32>, %b1: tensor<8xf32>, %w2: tensor<6x8xf32>, %b2: tensor<6xf32>,
                %wq: tensor<6x6xf32>, %bq: tensor<6xf32>) -> tensor<1x4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %zero64 = arith.constant 0.0 : f64
  %width = arith.constant 6.0 : f32
  %width64 = arith.constant 6.0 : f64
  %small = arith.constant 1.0e-05 : f64
  %rows = tensor.empty() : tensor<1x4x6xf32>
  %rows64 = tensor.empty() : tensor<1x4x6xf64>
  %hidden = tensor.empty() : tensor<1x4x8xf32>
  %means = tensor.empty() : tensor<1x4x1xf32>
  %means64 = tensor.empty() : tensor<1x4x1xf64>
  %square = tensor.empty() : tensor<6x6xf32>
  %wide = tensor.empty() : tensor<6x8xf32>
  %narrow = tensor.empty() : tensor<8x6xf32>
  %none = linalg.fill ins(%zero : f32) outs(%means : tensor<1x4x1xf32>) -> tensor<1x4x1xf32>
  %none64 = linalg.fill ins(%zero64 : f64) outs(%means64 : tensor<1x4x1xf64>) -> tensor<1x4x1xf64>
  %projected_t = linalg.generic {
    indexing_maps = [#here, #turned],
    iterator_types = ["parallel", "parallel"]
  } ins(%wo : tensor<6x6xf32>) outs(%square : tensor<6x6xf32>) {
  ^bb0(%x: f32, %acc: f32):
    linalg.yield %x : f32
  } -> tensor<6x6xf32>
  %projected_p = linalg.generic {
    indexing_maps = [#left, #right, #made],
    iterator_types = ["parallel", "parallel", "parallel", "reduction"]
  } ins(%attended, %projected_t : tensor<1x4x6xf32>, tensor<6x6xf32>) outs(%rows : tensor<1x4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %p, %acc : f32
    linalg.yield %r : f32
  } -> tensor<1x4x6xf32>
  %projected = linalg.generic {
    indexing_maps = [#row, #bias, #row],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%projected_p, %bo : tensor<1x4x6xf32>, tensor<6xf32>) outs(%rows : tensor<1x4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %r = arith.addf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<1x4x6xf32>
  %state = linalg.generic {
    indexing_maps = [#one, #one, #row],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%projected, %residual : tensor<1x4x6xf32>, tensor<1x4x6xf32>) outs(%rows : tensor<1x4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %r = arith.addf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<1x4x6xf32>
  // normed: the variance in f64, the mean once more in f32
  %normed_64 = linalg.generic {
    indexing_maps = [#one, #row],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%state : tensor<1x4x6xf32>) outs(%rows64 : tensor<1x4x6xf64>) {
  ^bb0(%x: f32, %acc: f64):
    %r = arith.extf %x : f32 to f64
    linalg.yield %r : f64
  } -> tensor<1x4x6xf64>
  %normed_sum64 = linalg.generic {
    indexing_maps = [#row, #kept],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%normed_64 : tensor<1x4x6xf64>) outs(%none64 : tensor<1x4x1xf64>) {
  ^bb0(%x: f64, %acc: f64):
    %r = arith.addf %x, %acc : f64
    linalg.yield %r : f64
  } -> tensor<1x4x1xf64>
  %normed_mean64 = linalg.generic {
    indexing_maps = [#mean, #row],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%normed_sum64 : tensor<1x4x1xf64>) outs(%means64 : tensor<1x4x1xf64>) {
  ^bb0(%x: f64, %acc: f64):
    %r = arith.divf %x, %width64 : f64
    linalg.yield %r : f64
  } -> tensor<1x4x1xf64>
  %normed_off64 = linalg.generic {
    indexing_maps = [#one, #mean, #row],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%normed_64, %normed_mean64 : tensor<1x4x6xf64>, tensor<1x4x1xf64>) outs(%rows64 : tensor<1x4x6xf64>) {
  ^bb0(%x: f64, %y: f64, %acc: f64):
    %r = arith.subf %x, %y : f64
    linalg.yield %r : f64
  } -> tensor<1x4x6xf64>
  %normed_sq = linalg.generic {
    indexing_maps = [#one, #one, #row],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%normed_off64, %normed_off64 : tensor<1x4x6xf64>, tensor<1x4x6xf64>) outs(%rows64 : tensor<1x4x6xf64>) {
  ^bb0(%x: f64, %y: f64, %acc: f64):
    %r = arith.mulf %x, %y : f64
    linalg.yield %r : f64
  } -> tensor<1x4x6xf64>
  %normed_sqsum = linalg.generic {
    indexing_maps = [#row, #kept],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%normed_sq : tensor<1x4x6xf64>) outs(%none64 : tensor<1x4x1xf64>) {
  ^bb0(%x: f64, %acc: f64):
    %r = arith.addf %x, %acc : f64
    linalg.yield %r : f64
  } -> tensor<1x4x1xf64>
  %normed_var64 = linalg.generic {
    indexing_maps = [#mean, #row],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%normed_sqsum : tensor<1x4x1xf64>) outs(%means64 : tensor<1x4x1xf64>) {
  ^bb0(%x: f64, %acc: f64):
    %r = arith.divf %x, %width64 : f64
    linalg.yield %r : f64
  } -> tensor<1x4x1xf64>
  %normed_var = linalg.generic {
    indexing_maps = [#mean, #row],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%normed_var64 : tensor<1x4x1xf64>) outs(%means : tensor<1x4x1xf32>) {
  ^bb0(%x: f64, %acc: f32):
    %r = arith.truncf %x : f64 to f32
    linalg.yield %r : f32
  } -> tensor<1x4x1xf32>
  %normed_sum = linalg.generic {
    indexing_maps = [#row, #kept],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%state : tensor<1x4x6xf32>) outs(%none : tensor<1x4x1xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %r = arith.addf %x, %acc : f32
    linalg.yield %r : f32
  } -> tensor<1x4x1xf32>
  %normed_mean = linalg.generic {
    indexing_maps = [#mean, #row],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%normed_sum : tensor<1x4x1xf32>) outs(%means : tensor<1x4x1xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %r = arith.divf %x, %width : f32
    linalg.yield %r : f32
  } -> tensor<1x4x1xf32>
  %normed_eps = linalg.generic {
    indexing_maps = [#mean, #row],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%normed_var : tensor<1x4x1xf32>) outs(%means : tensor<1x4x1xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %e = arith.truncf %small : f64 to f32
    %r = arith.addf %x, %e : f32
    linalg.yield %r : f32
  } -> tensor<1x4x1xf32>
  %normed_rs = linalg.generic {
    indexing_maps = [#mean, #row],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%normed_eps : tensor<1x4x1xf32>) outs(%means : tensor<1x4x1xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %r = math.rsqrt %x : f32
    linalg.yield %r : f32
  } -> tensor<1x4x1xf32>
  %normed_off = linalg.generic {
    indexing_maps = [#one, #mean, #row],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%state, %normed_mean : tensor<1x4x6xf32>, tensor<1x4x1xf32>) outs(%rows : tensor<1x4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %r = arith.subf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<1x4x6xf32>
  %normed = linalg.generic {
    indexing_maps = [#one, #mean, #row],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%normed_off, %normed_rs : tensor<1x4x6xf32>, tensor<1x4x1xf32>) outs(%rows : tensor<1x4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %r = arith.mulf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<1x4x6xf32>
  %first_t = linalg.generic {
    indexing_maps = [#here, #turned],
    iterator_types = ["parallel", "parallel"]
  } ins(%w1 : tensor<8x6xf32>) outs(%wide : tensor<6x8xf32>) {
  ^bb0(%x: f32, %acc: f32):
    linalg.yield %x : f32
  } -> tensor<6x8xf32>
  %first_p = linalg.generic {
    indexing_maps = [#left, #right, #made],
    iterator_types = ["parallel", "parallel", "parallel", "reduction"]
  } ins(%normed, %first_t : tensor<1x4x6xf32>, tensor<6x8xf32>) outs(%hidden : tensor<1x4x8xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %p, %acc : f32
    linalg.yield %r : f32
  } -> tensor<1x4x8xf32>
  %first = linalg.generic {
    indexing_maps = [#row, #bias, #row],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%first_p, %b1 : tensor<1x4x8xf32>, tensor<8xf32>) outs(%hidden : tensor<1x4x8xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %r = arith.addf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<1x4x8xf32>
  %gated = linalg.generic {
    indexing_maps = [#one, #row],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%first : tensor<1x4x8xf32>) outs(%hidden : tensor<1x4x8xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %c = arith.cmpf ugt, %x, %zero : f32
    %r = arith.select %c, %x, %zero : f32
    linalg.yield %r : f32
  } -> tensor<1x4x8xf32>
  %second_t = linalg.generic {
    indexing_maps = [#here, #turned],
    iterator_types = ["parallel", "parallel"]
  } ins(%w2 : tensor<6x8xf32>) outs(%narrow : tensor<8x6xf32>) {
  ^bb0(%x: f32, %acc: f32):
    linalg.yield %x : f32
  } -> tensor<8x6xf32>
  %second_p = linalg.generic {
    indexing_maps = [#left, #right, #made],
    iterator_types = ["parallel", "parallel", "parallel", "reduction"]
  } ins(%gated, %second_t : tensor<1x4x8xf32>, tensor<8x6xf32>) outs(%rows : tensor<1x4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %p, %acc : f32
    linalg.yield %r : f32
  } -> tensor<1x4x6xf32>
  %second = linalg.generic {
    indexing_maps = [#row, #bias, #row],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%second_p, %b2 : tensor<1x4x6xf32>, tensor<6xf32>) outs(%rows : tensor<1x4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %r = arith.addf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<1x4x6xf32>
  %out = linalg.generic {
    indexing_maps = [#one, #one, #row],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%second, %state : tensor<1x4x6xf32>, tensor<1x4x6xf32>) outs(%rows : tensor<1x4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %r = arith.addf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<1x4x6xf32>
  // renormed: the variance in f64, the mean once more in f32
  %renormed_64 = linalg.generic {
    indexing_maps = [#one, #row],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%out : tensor<1x4x6xf32>) outs(%rows64 : tensor<1x4x6xf64>) {
  ^bb0(%x: f32, %acc: f64):
    %r = arith.extf %x : f32 to f64
    linalg.yield %r : f64
  } -> tensor<1x4x6xf64>
  %renormed_sum64 = linalg.generic {
    indexing_maps = [#row, #kept],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%renormed_64 : tensor<1x4x6xf64>) outs(%none64 : tensor<1x4x1xf64>) {
  ^bb0(%x: f64, %acc: f64):
    %r = arith.addf %x, %acc : f64
    linalg.yield %r : f64
  } -> tensor<1x4x1xf64>
  %renormed_mean64 = linalg.generic {
    indexing_maps = [#mean, #row],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%renormed_sum64 : tensor<1x4x1xf64>) outs(%means64 : tensor<1x4x1xf64>) {
  ^bb0(%x: f64, %acc: f64):
    %r = arith.divf %x, %width64 : f64
    linalg.yield %r : f64
  } -> tensor<1x4x1xf64>
  %renormed_off64 = linalg.generic {
    indexing_maps = [#one, #mean, #row],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%renormed_64, %renormed_mean64 : tensor<1x4x6xf64>, tensor<1x4x1xf64>) outs(%rows64 : tensor<1x4x6xf64>) {
  ^bb0(%x: f64, %y: f64, %acc: f64):
    %r = arith.subf %x, %y : f64
    linalg.yield %r : f64
  } -> tensor<1x4x6xf64>
  %renormed_sq = linalg.generic {
    indexing_maps = [#one, #one, #row],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%renormed_off64, %renormed_off64 : tensor<1x4x6xf64>, tensor<1x4x6xf64>) outs(%rows64 : tensor<1x4x6xf64>) {
  ^bb0(%x: f64, %y: f64, %acc: f64):
    %r = arith.mulf %x, %y : f64
    linalg.yield %r : f64
  } -> tensor<1x4x6xf64>
  %renormed_sqsum = linalg.generic {
    indexing_maps = [#row, #kept],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%renormed_sq : tensor<1x4x6xf64>) outs(%none64 : tensor<1x4x1xf64>) {
  ^bb0(%x: f64, %acc: f64):
    %r = arith.addf %x, %acc : f64
    linalg.yield %r : f64
  } -> tensor<1x4x1xf64>
  %renormed_var64 = linalg.generic {
    indexing_maps = [#mean, #row],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%renormed_sqsum : tensor<1x4x1xf64>) outs(%means64 : tensor<1x4x1xf64>) {
  ^bb0(%x: f64, %acc: f64):
    %r = arith.divf %x, %width64 : f64
    linalg.yield %r : f64
  } -> tensor<1x4x1xf64>
  %renormed_var = linalg.generic {
    indexing_maps = [#mean, #row],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%renormed_var64 : tensor<1x4x1xf64>) outs(%means : tensor<1x4x1xf32>) {
  ^bb0(%x: f64, %acc: f32):
    %r = arith.truncf %x : f64 to f32
    linalg.yield %r : f32
  } -> tensor<1x4x1xf32>
  %renormed_sum = linalg.generic {
    indexing_maps = [#row, #kept],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%out : tensor<1x4x6xf32>) outs(%none : tensor<1x4x1xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %r = arith.addf %x, %acc : f32
    linalg.yield %r : f32
  } -> tensor<1x4x1xf32>
  %renormed_mean = linalg.generic {
    indexing_maps = [#mean, #row],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%renormed_sum : tensor<1x4x1xf32>) outs(%means : tensor<1x4x1xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %r = arith.divf %x, %width : f32
    linalg.yield %r : f32
  } -> tensor<1x4x1xf32>
  %renormed_eps = linalg.generic {
    indexing_maps = [#mean, #row],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%renormed_var : tensor<1x4x1xf32>) outs(%means : tensor<1x4x1xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %e = arith.truncf %small : f64 to f32
    %r = arith.addf %x, %e : f32
    linalg.yield %r : f32
  } -> tensor<1x4x1xf32>
  %renormed_rs = linalg.generic {
    indexing_maps = [#mean, #row],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%renormed_eps : tensor<1x4x1xf32>) outs(%means : tensor<1x4x1xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %r = math.rsqrt %x : f32
    linalg.yield %r : f32
  } -> tensor<1x4x1xf32>
  %renormed_off = linalg.generic {
    indexing_maps = [#one, #mean, #row],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%out, %renormed_mean : tensor<1x4x6xf32>, tensor<1x4x1xf32>) outs(%rows : tensor<1x4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %r = arith.subf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<1x4x6xf32>
  %renormed = linalg.generic {
    indexing_maps = [#one, #mean, #row],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%renormed_off, %renormed_rs : tensor<1x4x6xf32>, tensor<1x4x1xf32>) outs(%rows : tensor<1x4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %r = arith.mulf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<1x4x6xf32>
  %query_t = linalg.generic {
    indexing_maps = [#here, #turned],
    iterator_types = ["parallel", "parallel"]
  } ins(%wq : tensor<6x6xf32>) outs(%square : tensor<6x6xf32>) {
  ^bb0(%x: f32, %acc: f32):
    linalg.yield %x : f32
  } -> tensor<6x6xf32>
  %query_p = linalg.generic {
    indexing_maps = [#left, #right, #made],
    iterator_types = ["parallel", "parallel", "parallel", "reduction"]
  } ins(%renormed, %query_t : tensor<1x4x6xf32>, tensor<6x6xf32>) outs(%rows : tensor<1x4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %p, %acc : f32
    linalg.yield %r : f32
  } -> tensor<1x4x6xf32>
  %query = linalg.generic {
    indexing_maps = [#row, #bias, #row],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%query_p, %bq : tensor<1x4x6xf32>, tensor<6xf32>) outs(%rows : tensor<1x4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %r = arith.addf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<1x4x6xf32>
  return %query : tensor<1x4x6xf32>
}

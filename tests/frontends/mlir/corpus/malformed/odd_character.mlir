// 2:8 the character '~' has no meaning here
func.func @f(%A: tensor<4xf32>) {
  %0 = ~
}

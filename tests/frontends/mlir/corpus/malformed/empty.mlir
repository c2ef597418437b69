// 1:1 the file has no function
// Nothing.

package schema

// node is one value of the user's file, whatever its format, with the place
// that it came from.
type node struct{}

package schema

// kind is what a value is, whatever the format it is written in.
type kind int

const (
	nullKind kind = iota
	boolKind
	numberKind
	stringKind
	listKind
	mapKind
)

// String returns the kind as messages name it.
func (k kind) String() string {
	return [...]string{"null", "a boolean", "a number", "text", "a list", "a mapping"}[k]
}

// node is one value of the user's file with the place that it came from. YAML
// aliases share nodes, so a tree is a graph without cycles.
type node struct {
	kind   kind
	text   string // scalars: text, decimal number, true or false
	whole  bool   // numbers: written as a whole number
	wild   bool   // numbers: NaN, infinite, or beyond all use
	fields []field
	items  []*node

	at     int  // offset of the value in the source, past anchor and tag
	shared bool // reached through an alias or a merge key, or under an aliased anchor
	flow   bool // YAML: written in flow style; JSON and CUE: always
	tagged bool // YAML: has an anchor or a tag
	size   int  // nodes of the tree when aliases are written out
}

// field is one key of a mapping.
type field struct {
	key    string
	at     int // offset of the key
	value  *node
	merged bool // comes from a YAML merge key
}

// field returns the field with a key, nil where there is none.
func (n *node) field(key string) *field {
	if n == nil {
		return nil
	}
	for i := range n.fields {
		if n.fields[i].key == key {
			return &n.fields[i]
		}
	}
	return nil
}

// get returns the value at a path, nil where there is none.
func (n *node) get(path ...string) *node {
	for _, key := range path {
		f := n.field(key)
		if f == nil {
			return nil
		}
		n = f.value
	}
	return n
}

// add appends a field, and counts what it holds.
func (n *node) add(f field) {
	n.fields = append(n.fields, f)
	n.size = saturated(n.size + 1 + f.value.size)
}

// maxSize bounds the values of a file when aliases are written out: 2,000
// bulkheads with all of their fields fit, a billion laughs don't.
const maxSize = 120_000

func saturated(n int) int {
	return min(n, maxSize+1)
}

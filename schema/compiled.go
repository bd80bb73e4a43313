package schema

import (
	_ "embed"
	"sync"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/parser"
)

//go:embed bulkhead.cue
var bulkheadCUE string

const schemaFile = "schema/bulkhead.cue"

// CUE returns the schema as CUE source. It stands alone: definition #Config is
// a bulkhead file.
func CUE() string { return bulkheadCUE }

// compiled guards the CUE context, which is not made for concurrent use.
var compiled struct{ lock sync.Mutex }

// context and the values below are built on first use: a command that reads no
// file pays nothing for them.
var context = sync.OnceValue(func() *cue.Context { return cuecontext.New() })

var schemaAST = sync.OnceValue(func() *ast.File {
	f, err := parser.ParseFile(schemaFile, bulkheadCUE, parser.ParseComments)
	if err != nil {
		panic(err) // a test builds it
	}
	return f
})

var schemaValue = sync.OnceValue(func() cue.Value { return context().BuildFile(schemaAST()) })

// definition returns the value of a definition such as #Duration.
func definition(name string) cue.Value {
	return schemaValue().LookupPath(cue.ParsePath(name))
}

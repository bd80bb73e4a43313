package schema

import (
	"bytes"
	"encoding/json"
	"fmt"

	"cuelang.org/go/encoding/jsonschema"
)

// JSONSchema returns the schema as JSON Schema 2020-12, for editors. It is
// generated from #Shape: what must hold between fields, the budget among it,
// has no counterpart there, nor has it that pools and bulkheads are not empty.
func JSONSchema() ([]byte, error) {
	compiled.lock.Lock()
	defer compiled.lock.Unlock()
	expr, err := jsonschema.Generate(definition("#Shape"), nil)
	if err != nil {
		return nil, fmt.Errorf("generate the JSON Schema: %w", err)
	}
	raw, err := context().BuildExpr(expr).MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("generate the JSON Schema: %w", err)
	}
	const head = `{"$id":"https://github.com/bhsize/bhsize/schema/bulkhead.json","title":"bhsize bulkhead file",`
	raw = append([]byte(head), bytes.TrimPrefix(raw, []byte("{"))...)
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		return nil, fmt.Errorf("generate the JSON Schema: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

package schema

import (
	"math/big"
	"strconv"

	"github.com/bhsize/bhsize/sizing"
)

// decode turns a tree that CUE has accepted into a File. What is absent, or
// would not parse, comes out as the zero value.
func decode(root *node) *File {
	f := &File{
		Version:    orInt(root.get("version"), 0),
		Service:    root.get("service").str(),
		Prometheus: decodePrometheus(root.get("prometheus")),
		Instances:  decodeInstances(root.get("instances")),
		Processes:  orInt(root.get("processes"), 1),
		Measure:    decodeMeasure(root.get("measure")),
	}
	for _, p := range root.get("pools").all() {
		f.Pools = append(f.Pools, decodePool(p.key, p.value))
	}
	for _, b := range root.get("bulkheads").all() {
		f.Bulkheads = append(f.Bulkheads, decodeBulkhead(b.key, b.value, root.get("defaults"), f.Pools))
	}
	return f
}

func (n *node) str() string {
	if n == nil || n.kind == nullKind {
		return ""
	}
	return n.text
}

func (n *node) list() []string {
	if n == nil {
		return nil
	}
	var out []string
	for _, item := range n.items {
		out = append(out, item.str())
	}
	return out
}

func (n *node) integer() *int {
	if n == nil {
		return nil
	}
	i, err := strconv.Atoi(n.text)
	if err != nil {
		return nil
	}
	return &i
}

func orInt(n *node, otherwise int) int {
	if i := n.integer(); i != nil {
		return *i
	}
	return otherwise
}

func orStr(n *node, otherwise string) string {
	if s := n.str(); s != "" {
		return s
	}
	return otherwise
}

// ratio returns a number, or a percentage as a number.
func (n *node) ratio() *big.Rat {
	if n == nil || n.kind != numberKind && n.kind != stringKind {
		return nil
	}
	r, err := sizing.ParseRatio(n.text)
	if err != nil {
		return nil
	}
	return r
}

func orRatio(n *node, num, denom int64) *big.Rat {
	if r := n.ratio(); r != nil {
		return r
	}
	return big.NewRat(num, denom)
}

func decodePrometheus(n *node) Prometheus {
	s := n.get("series")
	return Prometheus{
		URL: n.get("url").str(), Preset: n.get("preset").str(), Selector: n.get("selector").str(), Window: asDuration(n.get("window")),
		Series: Series{
			Counter: s.get("counter").str(), Histogram: s.get("histogram").str(),
			Unit:       s.get("unit").str(),
			Dependency: s.get("dependency").list(), Instance: s.get("instance").list(),
			Errors: s.get("errors").str(), Rejected: s.get("rejected").str(), Calls: s.get("calls").str(), Matchers: s.get("matchers").str(),
			Level: s.get("level").str(), Ends: s.get("ends").str(),
		},
	}
}

func decodeInstances(n *node) Instances {
	if n != nil && n.kind == numberKind {
		return Instances{Min: n.integer(), Max: n.integer()}
	}
	return Instances{Min: n.get("min").integer(), Max: n.get("max").integer(), Surge: n.get("surge").integer()}
}

func decodePool(name string, n *node) Pool {
	p := Pool{
		Name: name, Size: orInt(n.get("size"), 0), Reserved: orInt(n.get("reserved"), 0), Kind: orStr(n.get("kind"), "connections"),
		Threads: n.get("threads").integer(), ConnectionsPerCall: n.get("connections_per_call").integer(),
	}
	if o := n.get("overcommit"); o != nil {
		p.Overcommit = &Overcommit{Ratio: o.get("ratio").ratio(), Reason: o.get("reason").str()}
	}
	if b := n.get("backend"); b != nil {
		p.Backend = &Backend{Name: b.get("name").str(), Capacity: orInt(b.get("capacity"), 0), Reserved: orInt(b.get("reserved"), 0), Others: orInt(b.get("others"), 0)}
	}
	return p
}

// decodeBulkhead reads a bulkhead over the defaults.
func decodeBulkhead(name string, n, defaults *node, pools []Pool) Bulkhead {
	pick := func(key string) *node {
		if own := n.get(key); own != nil {
			return own
		}
		return defaults.get(key)
	}
	b := Bulkhead{
		Name: name, Match: decodeMatch(n.get("match")), Pool: pick("pool").str(), Permits: n.get("permits").integer(),
		Covers: orStr(pick("covers"), "attempt"), Traffic: decodeTraffic(n.get("traffic")), Retries: decodeRetries(pick("retries")),
		Timeout: asDuration(pick("timeout")), TimeoutFrom: pick("timeout_from").str(), Deadline: asDuration(pick("deadline")),
		Fallback: n.get("fallback").str(), Queue: decodeQueue(n.get("queue"), defaults.get("queue")),
	}
	if b.Pool == "" && len(pools) == 1 {
		b.Pool = pools[0].Name
	}
	b.Criticality, _ = sizing.ParseCriticality(orStr(pick("criticality"), "standard"))
	b.Headroom, b.HeadroomDefaulted = decodeHeadroom(pick("headroom"))
	return b
}

func decodeHeadroom(n *node) (h sizing.Headroom, defaulted bool) {
	if n == nil {
		return sizing.Headroom{Factor: big.NewRat(2, 1)}, true
	}
	h, _ = sizing.ParseHeadroom(n.text)
	return h, false
}

func decodeMatch(n *node) map[string][]string {
	if n == nil {
		return nil
	}
	match := map[string][]string{}
	for _, f := range n.fields {
		match[f.key] = f.value.list()
	}
	return match
}

func decodeTraffic(n *node) *Traffic {
	if n == nil {
		return nil
	}
	t := &Traffic{
		PeakRPS: n.get("peak_rps").ratio(), P99: asDuration(n.get("p99")), Mean: asDuration(n.get("mean")),
		Level: n.get("level").str(), Calls: n.get("calls").long(), AttemptsPerCall: n.get("attempts_per_call").ratio(), Rejected: n.get("rejected").long(),
		Measured: asTime(n.get("measured")), Window: asDuration(n.get("window")),
	}
	if b := n.get("p99_bounds"); b != nil && len(b.items) == 2 {
		t.P99Bounds = &[2]*big.Rat{asDuration(b.items[0]), asDuration(b.items[1])}
	}
	return t
}

// long returns a whole number, nil for what is none.
func (n *node) long() *int64 {
	if n == nil {
		return nil
	}
	i, err := strconv.ParseInt(n.text, 10, 64)
	if err != nil {
		return nil
	}
	return &i
}

func decodeRetries(n *node) *Retries {
	if n == nil {
		return nil
	}
	r := &Retries{BackoffInitial: asDuration(n.get("backoff", "initial")), BackoffMax: asDuration(n.get("backoff", "max"))}
	r.MaxAttempts, r.FailureRatio = orInt(n.get("max_attempts"), 1), n.get("failure_ratio").ratio()
	if b := n.get("budget"); b != nil && b.kind == mapKind {
		r.BudgetRatio, r.BudgetMinPerSecond = b.get("ratio").ratio(), b.get("min_per_second").ratio()
	} else {
		r.BudgetRatio = b.ratio()
	}
	if layers := n.get("layers"); layers != nil {
		for _, l := range layers.items {
			r.Layers = append(r.Layers, orInt(l.get("max_attempts"), 1))
			r.LayerNames = append(r.LayerNames, l.get("name").str())
		}
	}
	return r
}

// decodeQueue merges a bulkhead's queue with the default one, field by field.
// Where either says none, that is not merged with.
func decodeQueue(own, usual *node) *Queue {
	switch {
	case own == nil && usual == nil:
		return nil
	case own == nil:
		own = usual
	}
	if own.kind == stringKind {
		return &Queue{None: true}
	}
	pick := func(key string) *node {
		if n := own.get(key); n != nil {
			return n
		}
		return usual.get(key)
	}
	return &Queue{Timeout: asDuration(pick("timeout")), Length: pick("length").integer()}
}

func decodeMeasure(n *node) Measure {
	m := Measure{
		TargetShed:      orRatio(n.get("target_shed"), 1, 10_000),
		UnhealthyErrors: orRatio(n.get("unhealthy", "errors"), 5, 100),
		P99Factor:       orRatio(n.get("unhealthy", "p99_factor"), 4, 1),
	}
	if exclude := n.get("exclude"); exclude != nil {
		for _, x := range exclude.items {
			m.Exclude = append(m.Exclude, Window{From: asTime(x.get("from")), To: asTime(x.get("to")), Reason: x.get("reason").str()})
		}
	}
	return m
}

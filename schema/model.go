package schema

import (
	"math/big"
	"time"

	"github.com/bhsize/bhsize/sizing"
)

// Format is the language that a file is written in.
type Format int

// The formats that Load reads.
const (
	FormatYAML Format = iota
	FormatJSON
	FormatCUE
)

// String returns the format's name: yaml, json or cue.
func (f Format) String() string {
	return [...]string{"yaml", "json", "cue"}[f]
}

// File is a bulkhead file that has passed the schema: the defaults are merged
// into every bulkhead, numbers are exact rationals of the decimal text and
// durations are in seconds. A nil pointer is a field that was left out.
type File struct {
	Name   string // as given to Load
	Source []byte // the bytes that were read
	Format Format

	Version    int
	Service    string
	Prometheus Prometheus
	Instances  Instances
	Processes  int        // per instance, each with its own pools; 1 when left out
	Pools      []Pool     // in file order
	Bulkheads  []Bulkhead // in file order
	Measure    Measure

	tree *node   // every value with its position
	src  *source // where the lines of Source start
}

// Prometheus says where the measurements are and what they are called.
type Prometheus struct {
	URL      string // of a server, or a folder of TSDB blocks, or an OpenMetrics file
	Preset   string
	Selector string   // PromQL matchers that select this service's series
	Window   *big.Rat // seconds
	Series   Series
}

// Series names the series by hand, field by field over the preset. An empty
// string or list is a field that was left out.
type Series struct {
	Counter    string   // request counter
	Histogram  string   // duration series, without _bucket, _sum and _count
	Unit       string   // of the durations: s, ms, us or ns
	Dependency []string // labels that name the dependency
	Instance   []string // labels that name the instance of the service
	Errors     string   // matchers of failed calls
	Rejected   string   // matchers of calls refused by the service's own limit
	Calls      string   // counter of whole calls, where Counter counts attempts
	Matchers   string   // matchers that always apply
	Level      string   // call or attempt
	Ends       string   // headers, first-byte or complete
}

// Instances is the number of instances of the service.
type Instances struct {
	Min, Max *int // equal when the file gives one number
	Surge    *int // extra ones during a roll-out
}

// Pool is a resource of one process that several bulkheads draw on.
type Pool struct {
	Name               string
	Size               int
	Reserved           int    // kept for operations; 0 when left out
	Kind               string // connections, threads or workers; connections when left out
	Overcommit         *Overcommit
	Backend            *Backend
	Threads            *int // callers that share the pool
	ConnectionsPerCall *int // connections that one caller holds at once
}

// Sizing returns the pool as the arithmetic sees it.
func (p Pool) Sizing() sizing.Pool {
	s := sizing.Pool{Size: p.Size, Reserved: p.Reserved}
	if p.Overcommit != nil {
		s.Overcommit = p.Overcommit.Ratio
	}
	return s
}

// Overcommit is a declared bet that not all bulkheads are full at once.
type Overcommit struct {
	Ratio  *big.Rat // at least 1
	Reason string
}

// Backend is what the pools of all instances draw on together.
type Backend struct {
	Name     string
	Capacity int
	Reserved int // kept by the backend itself; 0 when left out
	Others   int // used by other services; 0 when left out
}

// Bulkhead is the cap for one dependency, with the file's defaults applied.
type Bulkhead struct {
	Name              string
	Match             map[string][]string // nil: the label equals the name
	Pool              string              // resolved: never empty
	Criticality       sizing.Criticality
	Permits           *int   // per process; nil: to be recommended
	Covers            string // attempt (default) or call
	Traffic           *Traffic
	Headroom          sizing.Headroom
	HeadroomDefaulted bool // neither the bulkhead nor the defaults name one: factor 2
	Retries           *Retries
	Timeout           *big.Rat // seconds, of one attempt
	TimeoutFrom       string   // enqueue or start; empty when left out
	Deadline          *big.Rat // seconds, of the caller
	Fallback          string
	Queue             *Queue // nil: left out, which means none
}

// Traffic is the measurement that the permits rest on, per instance.
type Traffic struct {
	PeakRPS         *big.Rat     // calls a second
	P99             *big.Rat     // seconds
	P99Bounds       *[2]*big.Rat // seconds: the bucket bounds around the p99
	Mean            *big.Rat     // seconds
	Level           string       // call or attempt; empty when left out
	Calls           *int64       // calls measured
	AttemptsPerCall *big.Rat     // attempts of an average call, where PeakRPS counts attempts
	Rejected        *int64       // calls that the limit in force refused meanwhile; above 0, PeakRPS is a floor
	Measured        time.Time    // day of the measurement, UTC; zero when left out
	Window          *big.Rat     // seconds
}

// Retries is the retry policy of a bulkhead.
type Retries struct {
	sizing.Retries
	LayerNames     []string // beside Layers
	BackoffInitial *big.Rat // seconds
	BackoffMax     *big.Rat // seconds
}

// Queue is how long or how many calls may wait for a permit.
type Queue struct {
	None    bool     // reject at once
	Timeout *big.Rat // seconds
	Length  *int     // waiters
}

// Measure tunes what counts as a healthy measurement. All fields are filled.
type Measure struct {
	TargetShed      *big.Rat // ratio; 0.0001 when left out
	UnhealthyErrors *big.Rat // ratio of failed calls; 0.05 when left out
	P99Factor       *big.Rat // times the median slot's p99; 4 when left out
	Exclude         []Window
}

// Window is a time that measurements leave out: From up to but without To.
type Window struct {
	From, To time.Time
	Reason   string
}

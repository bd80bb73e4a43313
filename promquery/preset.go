package promquery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Level says what one observation of a duration series is.
type Level string

// A call contains its retries; an attempt is one of them.
const (
	LevelCall    Level = "call"
	LevelAttempt Level = "attempt"
)

// Ends says where the measured duration ends. Before Complete, the permit is
// still held while the body streams, so permits come out too small.
type Ends string

// The moments at which instrumentation stops its clock.
const (
	EndsHeaders   Ends = "headers"
	EndsFirstByte Ends = "first-byte"
	EndsComplete  Ends = "complete"
)

// Series names the time series that hold rate and latency of outbound calls.
// It is a preset's content, and what a user overrides field by field.
type Series struct {
	// Counter counts calls; empty: the histogram's _count.
	Counter string
	// Histogram is the base name of a classic histogram, without _bucket.
	Histogram string
	// Unit of the histogram's observations: ns, us, ms or s.
	Unit string
	// Dependency are the labels that name what is called; the first one is
	// compared with a bulkhead's name where it has no match.
	Dependency []string
	// Instance are the labels that tell the callers apart; absent ones are harmless.
	Instance []string
	// Fixed are matchers that every selector carries, as PromQL: `reporter="source"`.
	Fixed string
	// Errors are selectors of failed calls, any of which counts: matchers
	// alone apply to the counter, with a metric name they stand for themselves.
	Errors []string
	// Rejected selects what the service's own limit refused: one matcher on
	// the counter, or a metric of its own. Neither errors nor served.
	Rejected string
	// Calls selects a counter of whole calls with the same labels, by a selector
	// as one of Errors. Only where Level is LevelAttempt: beside the attempts it
	// says how many a call takes. Empty: unknown.
	Calls string
	Level Level
	Ends  Ends
	// TopBound is the highest finite bucket bound by default, in Unit; 0: unknown.
	TopBound float64
}

// CounterName is the counter of calls, by default the histogram's own.
func (s Series) CounterName() string {
	if s.Counter != "" {
		return s.Counter
	}
	return s.Histogram + "_count"
}

// With returns s with every field that over sets taken from over.
func (s Series) With(over Series) Series {
	pick(&s.Counter, over.Counter)
	pick(&s.Histogram, over.Histogram)
	pick(&s.Unit, over.Unit)
	pick(&s.Fixed, over.Fixed)
	pick(&s.Rejected, over.Rejected)
	pick(&s.Calls, over.Calls)
	pick(&s.Level, over.Level)
	pick(&s.Ends, over.Ends)
	pickAll(&s.Dependency, over.Dependency)
	pickAll(&s.Instance, over.Instance)
	pickAll(&s.Errors, over.Errors)
	return s
}

func pick[T ~string](into *T, from T) {
	if from != "" {
		*into = from
	}
}

func pickAll(into *[]string, from []string) {
	if len(from) > 0 {
		*into = from
	}
}

// Preset is a named Series: one instrumentation as it comes out of the box.
type Preset struct {
	Name   string
	About  string
	Source string // where the names are documented
	Series Series
}

// instanceLabels tell callers apart under every usual scrape configuration:
// one that is absent is empty and splits nothing.
var instanceLabels = []string{"instance", "pod"}

// Presets returns all presets, sorted by name.
func Presets() []Preset {
	all := presetTable()
	slices.SortFunc(all, func(a, b Preset) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// LookupPreset returns the preset of that name. The error names the nearest one.
func LookupPreset(name string) (Preset, error) {
	all := Presets()
	names := make([]string, len(all))
	for i, p := range all {
		if p.Name == name {
			return p, nil
		}
		names[i] = p.Name
	}
	nearest := slices.MinFunc(names, func(a, b string) int { return distance(name, a) - distance(name, b) })
	return Preset{}, fmt.Errorf("unknown preset %q: did you mean %q? known are %s, or name the series by hand under prometheus.series",
		name, nearest, strings.Join(names, ", "))
}

// distance is Levenshtein's, but a name that was only begun is nearest.
func distance(given, known string) int {
	if given != "" && strings.HasPrefix(known, given) {
		return 0
	}
	return levenshtein.ComputeDistance(given, known)
}

func presetTable() []Preset {
	return []Preset{
		{
			Name: "istio", About: "Istio sidecars, waypoints and gateways, as the caller sees it",
			Source: "https://istio.io/latest/docs/reference/config/metrics/",
			Series: Series{
				Counter: "istio_requests_total", Histogram: "istio_request_duration_milliseconds", Unit: "ms",
				Dependency: []string{"destination_service"}, Instance: instanceLabels,
				Fixed:    `reporter="source"`,
				Errors:   []string{`response_code=~"5..|0"`, `grpc_response_status=~"2|4|8|13|14|15"`},
				Rejected: `response_flags=~".*UO.*"`,
				Level:    LevelCall, Ends: EndsComplete, TopBound: 3600000,
			},
		},
		{
			Name: "envoy", About: "Envoy by itself, Envoy Gateway, Contour, Consul, Kuma",
			Source: "https://www.envoyproxy.io/docs/envoy/latest/configuration/upstream/cluster_manager/cluster_stats",
			Series: Series{
				Histogram: "envoy_cluster_upstream_rq_time", Unit: "ms",
				Dependency: []string{"envoy_cluster_name"}, Instance: instanceLabels,
				Errors:   []string{`envoy_cluster_upstream_rq_xx{envoy_response_code_class="5"}`},
				Rejected: `envoy_cluster_upstream_rq_pending_overflow`,
				Level:    LevelCall, Ends: EndsComplete, TopBound: 3600000,
			},
		},
		{
			Name: "otel-http", About: "OpenTelemetry HTTP client, stable semantic conventions",
			Source: "https://opentelemetry.io/docs/specs/semconv/http/http-metrics/",
			Series: Series{
				Histogram: "http_client_request_duration_seconds", Unit: "s",
				Dependency: []string{"server_address"}, Instance: instanceLabels,
				Errors: []string{`http_response_status_code=~"5.."`, `error_type!="",http_response_status_code=""`},
				// The convention leaves the end open; .NET's and Go's clients stop at the headers.
				Level: LevelAttempt, Ends: EndsHeaders, TopBound: 10,
			},
		},
		{
			Name: "micrometer", About: "Micrometer with Spring Boot 3: RestClient, RestTemplate, WebClient",
			Source: "https://docs.spring.io/spring-framework/reference/integration/observability.html",
			Series: Series{
				Histogram: "http_client_requests_seconds", Unit: "s",
				Dependency: []string{"client_name"}, Instance: instanceLabels,
				Errors: []string{`status=~"5..|IO_ERROR|CLIENT_ERROR"`},
				Level:  LevelAttempt, Ends: EndsComplete, TopBound: 30,
			},
		},
		{
			Name: "grpc", About: "gRPC's own OpenTelemetry metrics (gRFC A66)",
			Source: "https://github.com/grpc/proposal/blob/master/A66-otel-stats.md",
			Series: Series{
				Histogram: "grpc_client_call_duration_seconds", Unit: "s",
				Dependency: []string{"grpc_target"}, Instance: instanceLabels,
				Errors: []string{`grpc_status=~"UNKNOWN|DEADLINE_EXCEEDED|RESOURCE_EXHAUSTED|INTERNAL|UNAVAILABLE|DATA_LOSS"`},
				Level:  LevelCall, Ends: EndsComplete, TopBound: 100,
			},
		},
	}
}

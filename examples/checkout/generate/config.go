package main

import (
	"time"

	"github.com/bhsize/bhsize/internal/synth"
)

// start is the first instant of the history; day 1 is 2026-11-10.
var start = time.Date(2026, 11, 10, 0, 0, 0, 0, time.UTC)

// onDay2 is a time of day on the second day.
func onDay2(hour, minute, second int) time.Time {
	return start.AddDate(0, 0, 1).Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second)
}

// checkout is the fleet of the example. README.md beside it states the same numbers.
func checkout() *synth.Config {
	return &synth.Config{
		Seed:         20261110,
		Start:        start,
		End:          start.AddDate(0, 0, 2),
		Scrape:       30 * time.Second,
		Step:         30 * time.Second,
		Window:       2 * time.Minute,
		Instances:    instances(),
		Dependencies: dependencies(),
		Naming:       istio(),
		FromStart:    true, // so that every version of Prometheus answers alike
	}
}

// instances are three pods. The offsets keep scrapes off the evaluation steps,
// and are sums of eighths of a second: OpenMetrics times are decimal fractions
// of seconds, which Prometheus's parser cuts to milliseconds through a float.
func instances() []synth.Instance {
	return []synth.Instance{
		{Name: "checkout-5d9c7f6b8-2xkqp", Offset: 7250 * time.Millisecond, Weight: 1},
		{Name: "checkout-5d9c7f6b8-8wz4m", Offset: 13125 * time.Millisecond, Weight: 0.95, Restarts: []time.Time{onDay2(4, 33, 17)}},
		{Name: "checkout-5d9c7f6b8-v6tnd", Offset: 22750 * time.Millisecond, Weight: 0.9},
	}
}

func dependencies() []synth.Dependency {
	sale := synth.Burst{Window: synth.Window{From: onDay2(20, 10, 0), To: onDay2(20, 15, 0)}, Factor: 1.4}
	return []synth.Dependency{
		dependency("payments", 60, 18*time.Millisecond, 0.385, sale),
		dependency("catalogue", 110, 12*time.Millisecond, 0.495, sale),
		dependency("recommendations", 45, 70*time.Millisecond, 0.405, sale),
		dependency("search", 70, 55*time.Millisecond, 0.4, sale),
		stalling(dependency("ledger", 25, 30*time.Millisecond, 0.395)),
	}
}

// dependency has the daily curve of a shop: quiet nights, a lunch hour, an evening.
func dependency(name string, rate float64, median time.Duration, sigma float64, bursts ...synth.Burst) synth.Dependency {
	return synth.Dependency{
		Name:  name,
		Label: name + ".prod.svc.cluster.local",
		Traffic: synth.Traffic{
			Rate:   rate,
			Night:  0.2,
			Humps:  []synth.Hump{{Hour: 13, Height: 0.55, Width: 2.5}, {Hour: 20, Height: 0.8, Width: 2}},
			Bursts: bursts,
		},
		Latency: synth.Lognormal{Median: median, Sigma: sigma},
		Errors:  synth.Errors{Ratio: 0.001, Every: time.Hour, Spell: 2 * time.Minute},
	}
}

// stalling adds 40 minutes in which the dependency accepts calls and answers none.
func stalling(d synth.Dependency) synth.Dependency {
	d.Stall = &synth.Stall{
		Window:  synth.Window{From: onDay2(13, 7, 0), To: onDay2(13, 47, 0)},
		Timeout: 10 * time.Second,
		Factor:  1.6,
	}
	return d
}

// istio is how a sidecar reports, with the bounds of a mesh that has set
// sidecar.istio.io/statsHistogramBuckets.
func istio() synth.Naming {
	code := func(code, flags string) []synth.Label {
		return []synth.Label{{Name: "response_code", Value: code}, {Name: "response_flags", Value: flags}}
	}
	return synth.Naming{
		Counter:    "istio_requests_total",
		Histogram:  "istio_request_duration_milliseconds",
		Unit:       time.Millisecond,
		Bounds:     []float64{5, 10, 25, 50, 100, 250, 1000},
		Whole:      true,
		Dependency: "destination_service",
		Instance:   "pod",
		Fixed:      []synth.Label{{Name: "reporter", Value: "source"}, {Name: "source_workload", Value: "checkout"}},
		Answered:   code("200", "-"),
		Failed:     code("503", "-"),
		TimedOut:   code("504", "UT"),
	}
}

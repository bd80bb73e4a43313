package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bhsize/bhsize/internal/synth"
)

// BenchmarkRecommend measures a whole run over a day of 5 and of 500
// dependencies on three instances, embedded engine included, and reports the
// queries that it sent: their number must not grow with the dependencies.
//
//	go test ./cmd/bhsize -run '^$' -bench Recommend -benchtime 1x -benchmem
func BenchmarkRecommend(b *testing.B) {
	for _, n := range []int{5, 500} {
		b.Run(fmt.Sprintf("dependencies=%d", n), func(b *testing.B) { benchmarkRecommend(b, n) })
	}
}

func benchmarkRecommend(b *testing.B, n int) {
	dir := b.TempDir()
	file := crowded(b, dir, n)
	b.ResetTimer()
	for range b.N {
		var stdout, stderr bytes.Buffer
		if code := run(context.Background(), []string{"recommend", "-f", file, "-o", "json"}, &stdout, &stderr); code != exitFine {
			b.Fatalf("exit %d: %s", code, stderr.String())
		}
		var plan struct{ Services []struct{ Requests int } }
		if err := json.Unmarshal(stdout.Bytes(), &plan); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(plan.Services[0].Requests), "queries/op")
	}
}

// crowded writes a day of n dependencies, and the file that names them.
func crowded(b *testing.B, dir string, n int) string {
	start := time.Date(2026, 11, 10, 0, 0, 0, 0, time.UTC)
	c := &synth.Config{
		Seed: 1, Start: start, End: start.Add(24 * time.Hour), Scrape: 30 * time.Second, Step: 30 * time.Second, Window: 2 * time.Minute,
		Naming: synth.Naming{Counter: "istio_requests_total", Histogram: "istio_request_duration_milliseconds", Unit: time.Millisecond,
			Bounds: []float64{5, 10, 25, 50, 100, 250, 1000}, Whole: true, Dependency: "destination_service", Instance: "pod",
			Fixed: []synth.Label{{Name: "reporter", Value: "source"}}, Answered: []synth.Label{{Name: "response_code", Value: "200"}},
			Failed: []synth.Label{{Name: "response_code", Value: "503"}}},
	}
	for i := range 3 {
		c.Instances = append(c.Instances, synth.Instance{Name: fmt.Sprintf("pod-%d", i), Offset: time.Duration(7+i*7) * time.Second, Weight: 1})
	}
	var file strings.Builder
	fmt.Fprintf(&file, "version: 1\nservice: crowded\nprometheus: {url: history, window: 1d}\npools: {outbound: {size: %d}}\nbulkheads:\n", 100*n)
	for i := range n {
		name := fmt.Sprintf("dependency-%03d", i)
		c.Dependencies = append(c.Dependencies, synth.Dependency{Name: name, Label: name, Traffic: synth.Traffic{Rate: 0.5, Night: 1},
			Latency: synth.Lognormal{Median: 30 * time.Millisecond, Sigma: 0.4}})
		fmt.Fprintf(&file, "  %s: {timeout: 1s}\n", name)
	}
	history, _, err := synth.Generate(c)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := history.WriteBlock(context.Background(), filepath.Join(dir, "history")); err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(dir, "bulkhead.yaml")
	if err := os.WriteFile(path, []byte(file.String()), 0o644); err != nil {
		b.Fatal(err)
	}
	return path
}

package report

import (
	"github.com/bhsize/bhsize/internal/plan"
)

// column is one thing said about every bulkhead. The terminal and Markdown
// show the same ones.
type column struct {
	title string
	value func(*plan.Bulkhead) string
}

// name is the column that every table starts with.
var name = column{"BULKHEAD", func(b *plan.Bulkhead) string { return b.Spec.Name }}

func recommendColumns() []column {
	return []column{
		{"PEAK/s", func(b *plan.Bulkhead) string {
			return traffic(b, func(t *plan.Traffic) string { return number(t.PeakRPS) })
		}},
		{"P99", func(b *plan.Bulkhead) string {
			return traffic(b, func(t *plan.Traffic) string { return seconds(t.P99) })
		}},
		{"IN BUCKET", func(b *plan.Bulkhead) string { return traffic(b, bucket) }},
		{"ATTEMPTS", func(b *plan.Bulkhead) string { return short(b.Attempts) }},
		{"HEADROOM", headroom},
		{"NOW", func(b *plan.Bulkhead) string { return integer(b.Now) }},
		{"PERMITS", func(b *plan.Bulkhead) string { return integer(b.Permits) }},
		{"CHANGE", func(b *plan.Bulkhead) string { return change(b.Now, b.Permits) }},
		{"IN FLIGHT", func(b *plan.Bulkhead) string { return float(b.MeanInFlight) }},
		{"SHED", func(b *plan.Bulkhead) string { return probability(b.Shed) }},
		{"BLAST", func(b *plan.Bulkhead) string { return percent(b.Blast) }},
		{"CONFIDENCE", func(b *plan.Bulkhead) string { return string(b.Confidence) }},
	}
}

func traffic(b *plan.Bulkhead, show func(*plan.Traffic) string) string {
	if b.Traffic == nil {
		return unknown
	}
	return show(b.Traffic)
}

func bucket(t *plan.Traffic) string {
	if t.P99Low == nil || t.P99High == nil {
		return unknown
	}
	return seconds(t.P99Low) + "-" + seconds(t.P99High)
}

func headroom(b *plan.Bulkhead) string {
	if b.SizedBy == plan.SizedByMean {
		return "by mean"
	}
	return b.Spec.Headroom.String()
}

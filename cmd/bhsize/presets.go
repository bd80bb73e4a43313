package main

import (
	"github.com/spf13/cobra"

	"github.com/bhsize/bhsize/internal/plan"
	"github.com/bhsize/bhsize/internal/report"
	"github.com/bhsize/bhsize/promquery"
)

func newPresets(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "presets", Short: "list the instrumentations whose metrics bhsize knows", Args: cobra.NoArgs,
		Long: `presets lists what prometheus.preset may name: the metrics, the label that a
bulkhead's name is compared with, and what one observation is. Any field can be
overridden by name under prometheus.series.`,
		RunE: func(*cobra.Command, []string) error {
			return report.Presets(e.out, promquery.Presets(), plan.DefaultPreset, e.width)
		},
	}
}

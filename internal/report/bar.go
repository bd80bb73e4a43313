package report

import (
	"strings"
)

// budgetBar draws a pool: what the permits take, what is free, and the
// reserved part apart. Beyond the budget it shows how far the permits overshoot.
//
//	[██████████░░░░░░░░|▒▒]
func budgetBar(permits, budget, reserved, width int) string {
	inner := max(10, width-3)
	total := max(1, max(permits, budget)+reserved)
	keptCells := cells(reserved, total, inner)
	if reserved > 0 {
		keptCells = max(1, keptCells)
	}
	room := inner - keptCells
	takenCells := cells(min(permits, budget), total, inner)
	overCells := 0
	if permits > budget {
		overCells = max(1, cells(permits-budget, total, inner))
		takenCells = room - overCells
	}
	takenCells = min(takenCells, room)
	free := max(0, room-takenCells-overCells)
	return "[" + used.Render(strings.Repeat("█", takenCells)) + bad.Render(strings.Repeat("!", overCells)) +
		faint.Render(strings.Repeat("░", free)) + "|" + kept.Render(strings.Repeat("▒", keptCells)) + "]"
}

// cells scales n of total to a width, rounded to the nearest cell.
func cells(n, total, width int) int { return (2*n*width + total) / (2 * total) }

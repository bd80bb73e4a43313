package report

import "charm.land/lipgloss/v2"

// The styles of the terminal report: the 16 colours that every terminal lets
// its owner choose. Nothing is told by colour alone.
var (
	heading = lipgloss.NewStyle().Faint(true)
	strong  = lipgloss.NewStyle().Bold(true)
	faint   = lipgloss.NewStyle().Faint(true)
	good    = lipgloss.NewStyle().Foreground(lipgloss.Green)
	warn    = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
	bad     = lipgloss.NewStyle().Foreground(lipgloss.Red).Bold(true)
	used    = lipgloss.NewStyle().Foreground(lipgloss.Blue)
	kept    = lipgloss.NewStyle().Foreground(lipgloss.Magenta)
)

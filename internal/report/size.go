package report

import (
	"fmt"
	"io"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/bhsize/bhsize/internal/plan"
)

// Size writes the calculator's answer for people: the number, how it comes
// about, and what its neighbours would do.
func Size(w io.Writer, s *plan.Single, width int) error {
	p := &page{width: width}
	p.line("%s\n", strong.Render(ansi.Wrap(sizeHeadline(s), max(20, width), "")))
	p.steps(derivation(s.Bulkhead))
	p.list("notes", texts(s.Notes))
	p.title("what if")
	p.line("%s", whatIfGrid(s).render(width))
	p.title("neighbouring permits")
	p.line("%s", neighborGrid(s).render(width))
	_, err := io.WriteString(w, p.String())
	return err
}

func sizeHeadline(s *plan.Single) string {
	line := fmt.Sprintf("%s for each process", plural(*s.Permits, "permit", "permits"))
	if s.Spec.Permits != nil {
		line += " (the number given)"
	}
	if fits, err := s.Fits(); err == nil && fits != nil {
		available := s.Pool.Size - s.Pool.Reserved
		line += fmt.Sprintf(": %s the %d available of a pool of %d (%d reserved)", map[bool]string{true: "within", false: "MORE THAN"}[*fits], available, s.Pool.Size, s.Pool.Reserved)
	}
	if all := s.Fleet(); all != nil {
		line += fmt.Sprintf("; %d over all %s", *all, plural(s.Instances, "instance", "instances"))
	}
	return line
}

func whatIfGrid(s *plan.Single) grid {
	g := grid{titles: []string{"LOAD", "PERMITS NEEDED", fmt.Sprintf("SHED WITH %d", *s.Permits)}}
	for _, row := range s.WhatIf {
		g.rows = append(g.rows, []string{row.Load, integer(row.Permits), probability(row.Shed)})
	}
	return g
}

func neighborGrid(s *plan.Single) grid {
	g := grid{titles: []string{"PERMITS", "SHED AT PEAK", "AT RATE +20 %", "AT LATENCY x2", "STALL FILLS IN", "BLAST"}}
	for _, n := range s.Neighbors {
		fill := unknown
		switch {
		case n.Fill != nil:
			fill = nearSeconds(*n.Fill)
		case n.FillFromEmpty != nil:
			fill = nearSeconds(*n.FillFromEmpty)
		case s.Stall != nil:
			fill = "never"
		}
		g.rows = append(g.rows, []string{fmt.Sprint(n.Permits), probability(n.Shed), probability(n.ShedMoreRate), probability(n.ShedSlower), fill, percent(n.Blast)})
	}
	g.style = func(row, _ int) lipgloss.Style {
		if s.Neighbors[row].Permits == *s.Permits {
			return strong
		}
		return lipgloss.NewStyle()
	}
	g.mark = func(row int) bool { return s.Neighbors[row].Permits == *s.Permits }
	return g
}

// SizeMarkdown is Size as Markdown.
func SizeMarkdown(w io.Writer, s *plan.Single) error {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n\n", escape(sizeHeadline(s)))
	var rows [][]string
	for _, st := range derivation(s.Bulkhead) {
		rows = append(rows, []string{st.term, st.value, st.why})
	}
	markdownTable(&b, []string{"quantity", "value", "why"}, rows)
	for _, g := range []grid{whatIfGrid(s), neighborGrid(s)} {
		b.WriteString("\n")
		markdownTable(&b, g.titles, g.rows)
	}
	markdownList(&b, "Notes", texts(s.Notes))
	_, err := io.WriteString(w, b.String())
	return err
}

// SizeJSON is the calculator's answer for scripts. What is unknown is null.
func SizeJSON(w io.Writer, s *plan.Single) error {
	fits, err := s.Fits()
	if err != nil {
		return err
	}
	out := sizeJSON{
		Permits: s.Permits, PermitsRecommended: s.Wanted, PermitsFleet: s.Fleet(), PermitsByLoss: s.ByLoss, PermitsLow: s.Low, PermitsHigh: s.High,
		Demand: rat(s.Demand), Attempts: rat(s.Attempts), AttemptsWorst: s.WorstAttempts, Headroom: headroomJSON(s.Spec.Headroom), SizedBy: text(string(s.SizedBy)),
		MeanInFlight: s.MeanInFlight, ShedProbability: s.Shed, BlastRadius: s.Blast, stallJSON: newStallJSON(s.Stall),
		WorstWaitSeconds: rat(s.WorstWait), Fits: fits, Instances: count(s.Instances), Notes: texts(s.Notes),
		WhatIf: []whatIfJSON{}, Neighbors: []neighborJSON{},
	}
	if q := s.QueueShed; q != nil {
		out.ShedWithQueueLow, out.ShedWithQueueHigh, out.ShedWithQueueAbout = &q.Low, &q.High, &q.About
	}
	for _, row := range s.WhatIf {
		out.WhatIf = append(out.WhatIf, whatIfJSON{row.Load, row.Permits, row.Shed})
	}
	for _, n := range s.Neighbors {
		out.Neighbors = append(out.Neighbors, neighborJSON{n.Permits, n.Shed, n.ShedMoreRate, n.ShedSlower, n.Fill, n.FillFromEmpty, n.Blast})
	}
	return encode(w, out)
}

type sizeJSON struct {
	Permits            *int     `json:"permits"`             // per process: the number given, or the recommended one
	PermitsRecommended *int     `json:"permits_recommended"` // what the headroom asks for
	PermitsByLoss      *int     `json:"permits_by_loss"`     // the fewest that meet the target shed probability
	PermitsLow         *int     `json:"permits_low"`
	PermitsHigh        *int     `json:"permits_high"`
	PermitsFleet       *int     `json:"permits_fleet"` // over all instances
	Instances          *int     `json:"instances"`
	Demand             *float64 `json:"demand"` // rate x attempts x p99, calls in flight
	Attempts           *float64 `json:"attempts"`
	AttemptsWorst      int64    `json:"attempts_worst"`
	Headroom           any      `json:"headroom"` // a factor, or "auto"
	SizedBy            *string  `json:"sized_by"`
	MeanInFlight       *float64 `json:"mean_in_flight"` // erlangs
	ShedProbability    *float64 `json:"shed_probability"`
	ShedWithQueueLow   *float64 `json:"shed_with_queue_low"`
	ShedWithQueueHigh  *float64 `json:"shed_with_queue_high"`
	ShedWithQueueAbout *float64 `json:"shed_with_queue_about"`
	stallJSON
	BlastRadius      *float64       `json:"blast_radius"`
	WorstWaitSeconds *float64       `json:"worst_wait_seconds"`
	Fits             *bool          `json:"fits"` // null without a pool
	WhatIf           []whatIfJSON   `json:"what_if"`
	Neighbors        []neighborJSON `json:"neighbors"`
	Notes            []string       `json:"notes"`
}

type whatIfJSON struct {
	Load    string   `json:"load"`
	Permits *int     `json:"permits_needed"`
	Shed    *float64 `json:"shed_probability"`
}

type neighborJSON struct {
	Permits       int      `json:"permits"`
	Shed          *float64 `json:"shed_probability"`
	ShedMoreRate  *float64 `json:"shed_probability_rate_plus_20_percent"`
	ShedSlower    *float64 `json:"shed_probability_latency_x2"`
	Fill          *float64 `json:"stall_fill_seconds"`
	FillFromEmpty *float64 `json:"stall_fill_from_empty_seconds"`
	Blast         *float64 `json:"blast_radius"`
}

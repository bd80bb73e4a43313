package promquery

import (
	"fmt"

	"github.com/prometheus/common/model"
)

// checkMatrix refuses what no range query answers and what would be counted
// wrongly: a null for a series, a series twice, times that do not ascend.
func checkMatrix(where string, matrix model.Matrix) error {
	seen, points := newSeen(len(matrix)), 0
	for _, s := range matrix {
		if s == nil {
			return malformed(where, "has a null in place of a series")
		}
		if points += len(s.Values); points > MaxPoints {
			return tooManyPoints(where)
		}
		if err := seen.add(where, s.Metric); err != nil {
			return err
		}
		for i := 1; i < len(s.Values); i++ {
			if !s.Values[i].Timestamp.After(s.Values[i-1].Timestamp) {
				return malformed(where, fmt.Sprintf("has times of %s that do not ascend", labelText(s.Metric)))
			}
		}
	}
	return nil
}

// checkVector is checkMatrix for the answer to an instant query.
func checkVector(where string, vector model.Vector) error {
	seen := newSeen(len(vector))
	for _, s := range vector {
		if s == nil {
			return malformed(where, "has a null in place of a series")
		}
		if err := seen.add(where, s.Metric); err != nil {
			return err
		}
	}
	return nil
}

// seenSeries are the label sets of one answer.
type seenSeries map[model.Fingerprint]struct{}

func newSeen(n int) seenSeries { return make(seenSeries, min(n, MaxSeries)) }

func (s seenSeries) add(where string, m model.Metric) error {
	id := m.Fingerprint()
	if _, again := s[id]; again {
		return malformed(where, fmt.Sprintf("has the same series twice: %s", labelText(m)))
	}
	if len(s) >= MaxSeries {
		return tooManySeries(where)
	}
	s[id] = struct{}{}
	return nil
}

// labelText is a label set for people.
func labelText(m model.Metric) string { return clip(m.String()) }

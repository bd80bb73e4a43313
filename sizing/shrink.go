package sizing

import (
	"cmp"
	"container/heap"
	"slices"
)

// shrinking is a compartment that loses permits.
type shrinking struct {
	Compartment
	now, floor int
	price      *prices  // nil: unknown
	phase      CutPhase // the present one
	deepest    CutPhase // the last one that took a permit
	next       float64  // price of the next permit
}

// shrink takes up to excess permits from the members of one class, one at a
// time where that costs least, and those without a price last. It returns how
// many it took.
func shrink(members []*shrinking, excess int) int {
	var priced, unknown []*shrinking
	for _, s := range members {
		switch {
		case s.now <= s.floor:
		case s.price == nil:
			unknown = append(unknown, s)
		default:
			priced = append(priced, s)
		}
	}
	taken := shrinkPriced(priced, excess)
	return taken + shrinkUnknown(unknown, excess-taken)
}

func (s *shrinking) take(n int) {
	s.now -= n
	s.deepest = s.phase
}

// shrinkPriced takes from the cheapest. The cheapest keeps its turn while it is
// no dearer than the runner-up, which spares most of the heap's work.
func shrinkPriced(members []*shrinking, excess int) (taken int) {
	for _, s := range members {
		s.next = s.price.of(s.now)
	}
	queue := cheapest(members)
	heap.Init(&queue)
	for taken < excess && len(queue) > 0 {
		s := queue[0]
		for taken < excess && s.now > s.floor && !queue.outbid() {
			s.take(1)
			taken++
			if s.now > s.floor {
				s.next = s.price.of(s.now)
			}
		}
		if s.now == s.floor {
			heap.Pop(&queue)
		} else {
			heap.Fix(&queue, 0)
		}
	}
	return taken
}

// cheapest is a heap: the lowest price first, ties by name.
type cheapest []*shrinking

func (c cheapest) Len() int      { return len(c) }
func (c cheapest) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c cheapest) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(c[i].next, c[j].next), cmp.Compare(c[i].Name, c[j].Name)) < 0
}

// Push is never called: nothing joins a class.
func (c *cheapest) Push(x any) { *c = append(*c, x.(*shrinking)) }

// Pop removes the last, which heap.Pop has put there.
func (c *cheapest) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

// outbid says whether the first is no longer the cheapest: whether one of the
// two below it in the heap is.
func (c cheapest) outbid() bool {
	return len(c) > 1 && c.Less(1, 0) || len(c) > 2 && c.Less(2, 0)
}

// shrinkUnknown takes from the one with most permits above its floor, ties by
// name: the tallest are levelled down together.
func shrinkUnknown(members []*shrinking, excess int) (taken int) {
	above := func(i int) int {
		if i == len(members) {
			return 0
		}
		return members[i].now - members[i].floor
	}
	slices.SortFunc(members, func(x, y *shrinking) int {
		return cmp.Or(cmp.Compare(y.now-y.floor, x.now-x.floor), cmp.Compare(x.Name, y.Name))
	})
	n, left := 0, excess // how many are levelled, and what the last step has to take
	for n < len(members) && left > 0 {
		n++
		step := n * (above(n-1) - above(n))
		if step >= left {
			return levelTo(members[:n], above(n-1), left)
		}
		left -= step
	}
	return levelTo(members[:n], 0, 0)
}

// levelTo brings members down to so many permits above their floors, and takes
// rest more from them evenly, the first by name giving one more where that does
// not divide.
func levelTo(members []*shrinking, height, rest int) (taken int) {
	slices.SortFunc(members, func(x, y *shrinking) int { return cmp.Compare(x.Name, y.Name) })
	for i, s := range members {
		give := s.now - s.floor - height + rest/len(members)
		if i < rest%len(members) {
			give++
		}
		if give > 0 {
			s.take(give)
			taken += give
		}
	}
	return taken
}

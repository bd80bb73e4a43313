package sizing

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// base reads the compartments of the allocation oracles.
func base(t *testing.T) []Compartment {
	t.Helper()
	loads := map[string]float64{"payments": 7.5, "catalogue": 20, "recommendations": 5, "search": 12.5}
	permits := map[string]int{"payments": 15, "catalogue": 40, "recommendations": 10, "search": 25}
	for _, r := range oracle(t, "alloc_example_base") {
		name := r.text("name")
		if loads[name] != r.float("a") || permits[name] != r.int("cap") {
			t.Fatalf("%s: %s is not the base that this test knows", r.name, name)
		}
		r.matches("shed_erlangB", must[float64](t)(ErlangB(r.float("a"), r.int("cap"))), 12)
	}
	var all []Compartment
	for _, name := range []string{"payments", "catalogue", "recommendations", "search"} {
		all = append(all, Compartment{Name: name, Permits: permits[name], Rate: loads[name], MeanInFlight: ptr(loads[name])})
	}
	return all
}

// sheds checks a column of shed probabilities, one per compartment.
func sheds(r row, column string, compartments []Compartment, permits []int) {
	r.t.Helper()
	for i, want := range r.floats(column) {
		if got := must[float64](r.t)(ErlangB(*compartments[i].MeanInFlight, permits[i])); !near(got, want, 12) {
			r.t.Errorf("%s: %s sheds %v, want %v", r.name, compartments[i].Name, got, want)
		}
	}
}

func TestAllocRulesOracle(t *testing.T) {
	compartments := base(t)
	for _, r := range oracle(t, "alloc_rules") {
		var got []int
		switch r.text("rule") {
		case "proportional_largest_remainder":
			got = must[[]int](t)(Proportional([]int{15, 40, 10, 25}, r.int("available")))
		case "shrink_least_critical_first(rec,search,cat,pay)_floor1":
			got = shrinkInOrder(compartments, []int{2, 3, 1, 0}, r.int("available"))
		default:
			t.Fatalf("%s: unknown rule %q", r.name, r.text("rule"))
		}
		if want := r.ints("alloc(pay;cat;rec;search)"); !slices.Equal(got, want) || sum(got) != r.int("sum") {
			t.Errorf("%s: %v, want %v", r.name, got, want)
		}
		sheds(r, "shed", compartments, got)
	}
}

// shrinkInOrder shrinks one compartment after the other down to 1, as a class
// of its own each.
func shrinkInOrder(compartments []Compartment, order []int, available int) []int {
	all := make([]*shrinking, len(compartments))
	excess := -available
	for i, c := range compartments {
		all[i] = newShrinking(c)
		all[i].floor = 1
		excess += c.Permits
	}
	for _, i := range order {
		excess -= shrink(all[i:i+1], max(0, excess))
	}
	return left(all)
}

func left(all []*shrinking) []int {
	var permits []int
	for _, s := range all {
		permits = append(permits, s.now)
	}
	return permits
}

func sum(xs []int) (total int) {
	for _, x := range xs {
		total += x
	}
	return total
}

// TestAllocGreedyOracle shrinks one class from far above, which must end where
// the optimum by dynamic programming lies.
func TestAllocGreedyOracle(t *testing.T) {
	for _, r := range oracle(t, "alloc_greedy_vs_dp") {
		if r.text("weights") != "equal" {
			t.Fatalf("%s: unknown weights %q", r.name, r.text("weights"))
		}
		compartments := base(t)
		var all []*shrinking
		for _, c := range compartments {
			c.Permits = 200
			s := newShrinking(c)
			s.floor = 1
			all = append(all, s)
		}
		shrink(all, 800-r.int("available"))
		got := left(all)
		for _, column := range []string{"greedy_alloc(pay;cat;rec;search)", "dp_optimum_alloc"} {
			if want := r.ints(column); !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v of %s", r.name, got, want, column)
			}
		}
		loss := 0.0
		for i, c := range compartments {
			loss += c.Rate * must[float64](t)(ErlangB(*c.MeanInFlight, got[i]))
		}
		r.matches("weighted_loss_erlangs", loss, 12)
		sheds(r, "per_compartment_shed", compartments, got)
	}
}

func TestPlanCuts(t *testing.T) {
	shop := func() []Compartment {
		return []Compartment{
			{"payments", Critical, 15, ptr(8), 150, ptr(4.0)},
			{"catalogue", Standard, 40, ptr(20), 400, ptr(12.0)},
			{"search", Standard, 25, ptr(13), 125, ptr(6.0)},
			{"recommendations", Optional, 10, ptr(5), 50, ptr(2.0)},
		}
	}
	unknown := func() []Compartment {
		return []Compartment{
			{"b", Optional, 12, ptr(6), 10, nil},
			{"a", Optional, 12, ptr(6), 10, nil},
			{"c", Optional, 20, ptr(10), 10, nil},
			{"d", Optional, 10, ptr(5), 10, ptr(1.0)},
		}
	}
	byMean := func() []Compartment {
		return []Compartment{
			{"mean only", Optional, 12, nil, 40, ptr(5.2)},
			{"mean above demand", Optional, 10, ptr(3), 40, ptr(7.5)},
			{"neither", Optional, 9, nil, 40, nil},
			{"idle", Optional, 4, nil, 0, ptr(0.0)},
		}
	}
	for _, tc := range []struct {
		name         string
		compartments []Compartment
		available    int
		want         map[string]int
		fits         bool
		short        int
		reason       string
	}{
		{"fits", shop(), 90, map[string]int{"payments": 15, "catalogue": 40, "search": 25, "recommendations": 10}, true, 0, "nothing to cut"},
		{"optional first", shop(), 86, map[string]int{"payments": 15, "catalogue": 40, "search": 25, "recommendations": 6}, true, 0, "its headroom is enough"},
		{"optional to its demand, then standard", shop(), 80, map[string]int{"payments": 15, "catalogue": 36, "search": 24, "recommendations": 5}, true, 0, "catalogue's permits are the cheapest"},
		{"all headroom", shop(), 53, map[string]int{"payments": 15, "catalogue": 20, "search": 13, "recommendations": 5}, true, 0, "every cut to its demand"},
		{"below demand, optional first", shop(), 51, map[string]int{"payments": 15, "catalogue": 20, "search": 13, "recommendations": 3}, true, 0, "down to the mean in flight"},
		{"to the bottom", shop(), 35, map[string]int{"payments": 15, "catalogue": 12, "search": 6, "recommendations": 2}, true, 0, "as low as it goes"},
		{"short", shop(), 30, map[string]int{"payments": 15, "catalogue": 12, "search": 6, "recommendations": 2}, false, 5, "critical is never cut, so that 5 are short"},
		{"nothing available", shop(), 0, map[string]int{"payments": 15, "catalogue": 12, "search": 6, "recommendations": 2}, false, 35, "all are short"},
		{"priced before unknown", unknown(), 50, map[string]int{"a": 12, "b": 12, "c": 20, "d": 6}, true, 0, "d has a price"},
		{"unknown, tallest first", unknown(), 48, map[string]int{"a": 12, "b": 12, "c": 19, "d": 5}, true, 0, "c stands 10 above its floor, the others 6"},
		{"unknown, ties by name", unknown(), 44, map[string]int{"a": 11, "b": 12, "c": 16, "d": 5}, true, 0, "all stand 6 high: a gives the next"},
		{"unknown never below demand", unknown(), 20, map[string]int{"a": 6, "b": 6, "c": 10, "d": 1}, false, 3, "only d goes on to its mean"},
		{"by the mean, not below it", byMean(), 0, map[string]int{"mean only": 6, "mean above demand": 8, "neither": 9, "idle": 1}, false, 24, "ceil(a) is the floor in both rounds, and what nothing is known of is not cut"},
		{"no compartments", nil, 5, map[string]int{}, true, 0, "nothing to place"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := must[CutPlan](t)(PlanCuts(tc.compartments, tc.available))
			if diff := cmp.Diff(tc.want, got.Permits); diff != "" || got.Fits != tc.fits || got.Short != tc.short {
				t.Errorf("fits %v, short %d, want %v, %d: %s (-want +got):\n%s", got.Fits, got.Short, tc.fits, tc.short, tc.reason, diff)
			}
			checkPlan(t, tc.compartments, tc.available, got)
		})
	}
}

func TestCutsStateTheirPrice(t *testing.T) {
	plan := must[CutPlan](t)(PlanCuts([]Compartment{
		{"search", Standard, 25, ptr(13), 125, ptr(6.0)},
		{"mail", Standard, 9, ptr(4), 10, nil},
		{"recommendations", Optional, 10, ptr(6), 50, ptr(5.0)},
		{"ads", Optional, 4, ptr(4), 50, ptr(1.0)},
		{"by mean", Standard, 9, nil, 50, ptr(2.5)},
	}, 26))
	b := func(a float64, c int) *float64 { return ptr(must[float64](t)(ErlangB(a, c))) }
	want := []Cut{
		{"ads", Optional, 4, 1, CutDemand, b(1, 4), b(1, 1)},
		{"recommendations", Optional, 10, 5, CutDemand, b(5, 10), b(5, 5)},
		{"by mean", Standard, 9, 3, CutToMean, b(2.5, 9), b(2.5, 3)},
		{"mail", Standard, 9, 4, CutHeadroom, nil, nil},
		{"search", Standard, 25, 13, CutHeadroom, b(6, 25), b(6, 13)},
	}
	if diff := cmp.Diff(want, plan.Cuts, approximately); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPlanCutsErrors(t *testing.T) {
	ok := Compartment{Name: "a", Permits: 1, Rate: 1}
	change := func(f func(*Compartment)) []Compartment {
		c := ok
		f(&c)
		return []Compartment{c}
	}
	for _, tc := range []struct {
		compartments []Compartment
		want         string
	}{
		{[]Compartment{ok, ok}, "used twice"},
		{change(func(c *Compartment) { c.Name = "" }), "empty"},
		{change(func(c *Compartment) { c.Permits = 0 }), "permits is 0"},
		{change(func(c *Compartment) { c.Permits = MaxPermits + 1 }), "check the unit"},
		{change(func(c *Compartment) { c.DemandFloor = ptr(-1) }), "demand floor is -1"},
		{change(func(c *Compartment) { c.Rate = math.NaN() }), "rate is NaN"},
		{change(func(c *Compartment) { c.MeanInFlight = ptr(math.Inf(1)) }), "mean in flight is +Inf"},
		{change(func(c *Compartment) { c.Criticality = 9 }), "criticality(9) is unknown"},
	} {
		_, err := PlanCuts(tc.compartments, 1)
		wantError(t, err, tc.want)
	}
	_, err := PlanCuts([]Compartment{ok}, -1)
	wantError(t, err, "available is -1")
}

// checkPlan holds what must hold of every plan.
func checkPlan(t *testing.T, compartments []Compartment, available int, plan CutPlan) {
	t.Helper()
	total := 0
	for _, c := range compartments {
		now := plan.Permits[c.Name]
		total += now
		floor := floorOf(c, true)
		if c.Criticality == Critical {
			floor = c.Permits
		}
		if now > c.Permits || now < min(c.Permits, floor) {
			t.Fatalf("%+v ends at %d, floor %d", c, now, floor)
		}
		cut := slices.IndexFunc(plan.Cuts, func(cut Cut) bool { return cut.Name == c.Name })
		if cut >= 0 {
			checkPhase(t, c, plan.Cuts[cut])
		}
		if (cut >= 0) != (now < c.Permits) || cut >= 0 && (plan.Cuts[cut].From != c.Permits || plan.Cuts[cut].To != now) {
			t.Fatalf("%+v ends at %d, cuts %+v", c, now, plan.Cuts)
		}
	}
	if total != plan.Total || plan.Fits != (total <= available) || plan.Short != max(0, total-available) {
		t.Fatalf("total %d of %d: %+v", total, available, plan)
	}
	if len(plan.Cuts) > 0 && plan.Fits && total < available {
		t.Fatalf("cut more than needed: %d of %d", total, available)
	}
}

// floorOf is the design's sentence on how far a round may go.
func floorOf(c Compartment, deep bool) int {
	if c.DemandFloor == nil && c.MeanInFlight == nil {
		return c.Permits
	}
	floor := 1
	if c.MeanInFlight != nil {
		floor = max(floor, int(math.Ceil(min(*c.MeanInFlight, MaxPermits))))
	}
	if c.DemandFloor != nil && (!deep || c.MeanInFlight == nil) {
		floor = max(floor, *c.DemandFloor)
	}
	return floor
}

// checkPhase holds that a cut goes no lower than its mean in flight, and
// claims what is true of it.
func checkPhase(t *testing.T, c Compartment, cut Cut) {
	t.Helper()
	if c.MeanInFlight != nil && float64(cut.To) < math.Ceil(*c.MeanInFlight) {
		t.Fatalf("%+v is cut below its mean in flight: %+v", c, cut)
	}
	keeps := c.DemandFloor != nil && cut.To >= *c.DemandFloor
	switch cut.Phase {
	case CutHeadroom:
		if !keeps {
			t.Fatalf("%+v does not keep a p99 demand: %+v", c, cut)
		}
	case CutDemand:
		if c.DemandFloor == nil || keeps {
			t.Fatalf("%+v is not cut below a p99 demand: %+v", c, cut)
		}
	case CutToMean:
		if c.MeanInFlight == nil || c.DemandFloor != nil && !keeps {
			t.Fatalf("%+v is not bounded by its mean alone: %+v", c, cut)
		}
	}
}

// slowCuts is the design's sentence word for word, one permit at a time, to
// compare PlanCuts with.
func slowCuts(compartments []Compartment, available int) map[string]int {
	now := map[string]int{}
	total := 0
	for _, c := range compartments {
		now[c.Name] = c.Permits
		total += c.Permits
	}
	for _, deep := range []bool{false, true} {
		for _, class := range givingWay {
			for total > available {
				best := ""
				price, height := math.Inf(1), 0
				for _, c := range compartments {
					n := now[c.Name]
					floor := floorOf(c, deep)
					if c.Criticality != class || n <= floor {
						continue
					}
					p := math.Inf(1)
					if c.MeanInFlight != nil {
						p = (&prices{a: *c.MeanInFlight, rate: c.Rate}).of(n)
					}
					better := best == "" || p < price || p == price && math.IsInf(p, 1) && n-floor > height
					tie := p == price && (!math.IsInf(p, 1) || n-floor == height) && c.Name < best
					if better || tie {
						best, price, height = c.Name, p, n-floor
					}
				}
				if best == "" {
					break
				}
				now[best]--
				total--
			}
		}
	}
	return now
}

// randomCompartments draws some of every kind, with ties among them.
func randomCompartments(rng *rand.Rand, n int) (all []Compartment, total int) {
	for i := range n {
		c := Compartment{
			Name:        fmt.Sprintf("d%03d", i),
			Criticality: Criticality(rng.IntN(3)),
			Permits:     1 + rng.IntN(40),
			Rate:        float64(rng.IntN(5) * 50),
		}
		if rng.IntN(3) > 0 {
			c.DemandFloor = ptr(rng.IntN(30))
		}
		if rng.IntN(3) > 0 {
			c.MeanInFlight = ptr(float64(rng.IntN(40)) / 2)
		}
		total += c.Permits
		all = append(all, c)
	}
	rng.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all, total
}

func TestPlanCutsProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 26))
	for range 1500 {
		all, total := randomCompartments(rng, rng.IntN(8))
		available := rng.IntN(total + 5)
		plan := must[CutPlan](t)(PlanCuts(all, available))
		checkPlan(t, all, available, plan)
		if diff := cmp.Diff(slowCuts(all, available), plan.Permits); diff != "" {
			t.Fatalf("%+v into %d (-one by one +plan):\n%s", all, available, diff)
		}
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		again := must[CutPlan](t)(PlanCuts(all, available))
		if diff := cmp.Diff(plan, again); diff != "" {
			t.Fatalf("the order of the input matters:\n%s", diff)
		}
	}
}

// TestPlanCutsLarge holds that enormous caps take neither time nor memory.
func TestPlanCutsLarge(t *testing.T) {
	var all []Compartment
	for i := range 20 {
		all = append(all, Compartment{Name: fmt.Sprint(i), Permits: MaxPermits, Rate: 10, MeanInFlight: ptr(1000.0 * float64(i))})
	}
	for i := range 500 {
		all = append(all, Compartment{Name: fmt.Sprint("u", i), Permits: MaxPermits, Rate: 10, DemandFloor: ptr(1)})
	}
	plan := must[CutPlan](t)(PlanCuts(all, 1_000_000))
	checkPlan(t, all, 1_000_000, plan)
}

func TestPricesAcrossBlocks(t *testing.T) {
	const a, top = 2500.0, 4000
	table := must[[]float64](t)(ErlangBTable(a, top))
	p := prices{a: a, rate: 3}
	for c := top; c >= 1; c-- {
		want := 3 * (table[c-1] - table[c])
		if got := p.of(c); math.Abs(got-want) > 1e-9*want+1e-15 {
			t.Fatalf("price of permit %d is %v, want %v", c, got, want)
		}
	}
}

func TestCriticality(t *testing.T) {
	var zero Criticality
	if zero != Standard {
		t.Error("the zero value is not standard")
	}
	for _, c := range []Criticality{Standard, Optional, Critical} {
		if got := must[Criticality](t)(ParseCriticality(c.String())); got != c {
			t.Errorf("%v reads back as %v", c, got)
		}
	}
	for _, s := range []string{"", "Critical", "criticality(7)"} {
		_, err := ParseCriticality(s)
		wantError(t, err, "use critical, standard or optional")
	}
	said := map[string]bool{}
	for _, p := range []CutPhase{CutHeadroom, CutDemand, CutToMean, 9} {
		said[p.String()] = true
	}
	if len(said) != 4 {
		t.Errorf("phases read alike: %v", said)
	}
}

func TestProportional(t *testing.T) {
	rng := rand.New(rand.NewPCG(27, 28))
	for range 1000 {
		weights := make([]int, 1+rng.IntN(10))
		for i := range weights {
			weights[i] = rng.IntN(100)
		}
		weights[0]++
		total := rng.IntN(1000)
		parts := must[[]int](t)(Proportional(weights, total))
		if sum(parts) != total {
			t.Fatalf("%v of %d: %v", weights, total, parts)
		}
		for i, w := range weights {
			quota := float64(total) * float64(w) / float64(sum(weights))
			if math.Abs(float64(parts[i])-quota) >= 1 {
				t.Fatalf("%v of %d: part %d is %d of a quota of %v", weights, total, i, parts[i], quota)
			}
		}
	}
	if got := must[[]int](t)(Proportional([]int{math.MaxInt, math.MaxInt}, math.MaxInt)); sum(got) != math.MaxInt {
		t.Errorf("enormous weights split into %v", got)
	}
	for _, tc := range []struct {
		weights []int
		total   int
		want    string
	}{{nil, 1, "no weight"}, {[]int{0, 0}, 1, "no weight"}, {[]int{-1, 2}, 1, "weight -1"}, {[]int{1}, -1, "-1 permits"}} {
		_, err := Proportional(tc.weights, tc.total)
		wantError(t, err, tc.want)
	}
}

func BenchmarkPlanCuts(b *testing.B) {
	rng := rand.New(rand.NewPCG(29, 30))
	all, total := randomCompartments(rng, 500)
	for b.Loop() {
		if _, err := PlanCuts(all, total/2); err != nil {
			b.Fatal(err)
		}
	}
}

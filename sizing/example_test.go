package sizing_test

import (
	"fmt"

	"github.com/bhsize/bhsize/sizing"
)

// From what was measured to permits: 300 calls a second at a p99 of 50 ms, with
// room for twice the demand.
func Example() {
	permits, err := size("300", "50ms", "2")
	if err != nil {
		fmt.Println(err)
		return
	}
	const mean = 0.020 // seconds
	shed, err := sizing.ErlangB(300*mean, permits)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d permits, %.1e of the calls shed at a mean of 20 ms\n", permits, shed)
	// Output:
	// 30 permits, 2.1e-12 of the calls shed at a mean of 20 ms
}

// size goes from decimal text to permits without leaving exact numbers.
func size(rate, p99, headroom string) (int, error) {
	r, err := sizing.ParseNumber(rate)
	if err != nil {
		return 0, err
	}
	latency, err := sizing.ParseDuration(p99)
	if err != nil {
		return 0, err
	}
	h, err := sizing.ParseHeadroom(headroom)
	if err != nil {
		return 0, err
	}
	attempts, err := sizing.Retries{}.Attempts(r)
	if err != nil {
		return 0, err
	}
	return sizing.Permits(sizing.Demand(r, attempts, latency), h.Factor)
}

func ExamplePlanCuts() {
	search, ads := 12.5, 5.0
	plan, err := sizing.PlanCuts([]sizing.Compartment{
		{Name: "payments", Criticality: sizing.Critical, Permits: 15, DemandFloor: new(8), Rate: 150},
		{Name: "search", Permits: 25, DemandFloor: new(20), Rate: 250, MeanInFlight: &search},
		{Name: "ads", Criticality: sizing.Optional, Permits: 10, DemandFloor: new(8), Rate: 100, MeanInFlight: &ads},
	}, 45)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, cut := range plan.Cuts {
		fmt.Printf("%s (%v) %d -> %d: shed %.2f%% -> %.2f%%\n", cut.Name, cut.Criticality, cut.From, cut.To, 100**cut.ShedBefore, 100**cut.ShedAfter)
	}
	fmt.Printf("%d of 45, fits: %v\n", plan.Total, plan.Fits)
	// Output:
	// ads (optional) 10 -> 8: shed 1.84% -> 7.00%
	// search (standard) 25 -> 22: shed 0.06% -> 0.45%
	// 45 of 45, fits: true
}

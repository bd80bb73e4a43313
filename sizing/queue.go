package sizing

import (
	"fmt"
	"math"
)

// QueueLength is what a bulkhead with a bounded number of queue places does.
type QueueLength struct {
	Reject            float64 // share of calls refused: all permits and places taken
	MeanQueue         float64 // calls waiting, on average over time
	MeanWait          float64 // wait of an accepted call, in mean holds
	WaitGivenAccepted float64 // share of the accepted calls that wait at all
}

// MMCK describes c permits before which so many calls may queue, at an offered
// load of a erlangs: the M/M/c/K queue with K = c + places. Beyond c the state
// probabilities are geometric with ratio a/c; below, Erlang B says what they
// sum to. With places the exponential hold is an assumption; without, only the
// Poisson arrivals are. Kleinrock, Queueing Systems I (1975), 3.8.
//
// The plan prices a queue with it that is bounded by its length alone, and one
// with a timeout with MMCD; QueueWait says how long the former can take.
func MMCK(a float64, c, places int) (QueueLength, error) {
	if err := firstError(checkLoad("offered load", a), checkPermits(c), checkCap("queue places", places)); err != nil {
		return QueueLength{}, err
	}
	if a == 0 {
		return QueueLength{}, nil
	}
	below, err := massBelow(a, c)
	if err != nil {
		return QueueLength{}, err
	}
	w := queueWeights(a/float64(c), places)
	below *= w.first
	total := below + w.sum
	accepted := ratioOrOne(below+w.waiting, total)
	q := QueueLength{Reject: w.last / total, MeanQueue: w.queued / total}
	q.MeanWait = q.MeanQueue / (a * accepted)
	q.WaitGivenAccepted = w.waiting / (total * accepted)
	return q, nil
}

// massBelow returns the probability of fewer than c permits in use, relative
// to that of exactly c: (c/a) / B(a,c-1). It may be infinite.
func massBelow(a float64, c int) (float64, error) {
	b, err := ErlangB(a, c-1)
	return float64(c) / a / b, err
}

// ratioOrOne is x/total, and 1 where both are past counting.
func ratioOrOne(x, total float64) float64 {
	if math.IsInf(total, 1) {
		return 1
	}
	return x / total
}

// weights sums up the states with all permits taken, up to a common factor.
type weights struct {
	first   float64 // no call queued
	last    float64 // all places taken
	sum     float64 // all of them
	waiting float64 // all but the last: an arrival queues
	queued  float64 // sum of calls queued x weight
}

// queueWeights gives the state with j calls queued the weight rho^j, or
// rho^(j-places) where rho is above 1, so that the largest weight is 1.
func queueWeights(rho float64, places int) weights {
	w := weights{first: 1}
	ratio, at, step := rho, 0, 1
	if rho > 1 {
		ratio, at, step = 1/rho, places, -1
		w.first = math.Pow(rho, -float64(places))
	}
	x := 1.0
	for range places + 1 {
		w.sum += x
		w.queued += float64(at) * x
		if at == places {
			w.last = x
		} else {
			w.waiting += x
		}
		at += step
		x *= ratio
	}
	return w
}

// QueueTimeout is what a bulkhead does whose waiters give up after a timeout.
type QueueTimeout struct {
	Reject        float64 // share of calls that give up
	WaitAndServed float64 // share of calls that wait and then get a permit
	MeanWait      float64 // wait of a call that gets a permit, in mean holds
	MeanInQueue   float64 // time queued over all calls, those that give up included, in mean holds
	High          float64 // Erlang B: what no queue would refuse
	Low           float64 // max(0, 1 - c/a): what no queue can avoid
}

// maxWait bounds tau: beyond a billion mean holds a unit is wrong.
const maxWait = 1e9

// MMCD describes c permits, at an offered load of a erlangs, whose waiters give
// up after tau mean holds: the M/M/c+D queue, in closed form. The virtual wait
// V of an arrival has the density, with time in mean holds,
//
//	v(x) = a p(c-1) e^(-(c-a)x) on (0, tau), and beyond it a tail of rate c
//
// because nobody who would wait longer than tau stays to be served; P(V = 0) =
// p(0) + ... + p(c-1), and the share that gives up is P(V > tau). Baccelli and
// Hebuterne, On Queues with Impatient Customers (1981). An estimate for other
// holds than exponential ones. A tau of 0 is Erlang B.
func MMCD(a float64, c int, tau float64) (QueueTimeout, error) {
	if err := firstError(checkLoad("offered load", a), checkPermits(c), checkNumber("queue timeout", tau)); err != nil {
		return QueueTimeout{}, err
	}
	if tau > maxWait {
		return QueueTimeout{}, fmt.Errorf("the queue timeout is %.3g mean holds, above %.0g: check the unit", tau, maxWait)
	}
	low, high, err := QueueShedBounds(a, c)
	if err != nil || a == 0 {
		return QueueTimeout{}, err
	}
	atOnce, err := ErlangB(a, c-1)
	if err != nil {
		return QueueTimeout{}, err
	}
	v := virtualWait(a, float64(c), tau)
	none := v.scale / atOnce
	total := none + v.within + v.beyond
	served := ratioOrOne(none+v.within, total)
	q := QueueTimeout{Reject: v.beyond / total, WaitAndServed: v.within / total, Low: low, High: high}
	moment := v.moment / total
	q.MeanWait = moment / served
	q.MeanInQueue = moment + tau*q.Reject
	return q, nil
}

// waitMass holds the integrals of v over the parts of the virtual wait, all
// divided by p(c-1) and multiplied by scale.
type waitMass struct{ scale, within, beyond, moment float64 }

// virtualWait integrates e^(-dx), d = c-a, over (0, tau). Where d is negative
// all is scaled by e^(d tau), so that the largest value is 1 and nothing
// overflows.
func virtualWait(a, c, tau float64) waitMass {
	d := c - a
	y := d * tau
	if y >= 0 {
		return waitMass{
			scale:  1,
			within: a * tau * decayMean(y),
			beyond: a / c * math.Exp(-y),
			moment: a * tau * (tau * decayMoment(y)),
		}
	}
	return waitMass{
		scale:  math.Exp(y),
		within: a * tau * decayMean(-y),
		beyond: a / c,
		moment: a * tau * (tau * (decayMean(-y) - decayMoment(-y))),
	}
}

// decayMean returns (1 - e^-y)/y, the mean of e^(-yu) over u in (0,1).
func decayMean(y float64) float64 {
	if y == 0 {
		return 1
	}
	return -math.Expm1(-y) / y
}

// decayMoment returns the mean of u e^(-yu) over u in (0,1), (1 - e^-y (1+y)) /
// y^2, for y >= 0: by its power series where the closed form would cancel.
func decayMoment(y float64) float64 {
	if y > 1 {
		return (1 - math.Exp(-y) - y*math.Exp(-y)) / y / y
	}
	sum, term := 0.0, 1.0
	for n := 0.0; n < 25; n++ {
		sum += term / (n + 2)
		term *= -y / (n + 1)
	}
	return sum
}

// QueueShedBounds returns what a bulkhead with any queue sheds at least and at
// most at Poisson arrivals: max(0, 1 - c/a), because c permits serve no more
// than c erlangs, and Erlang B, because letting calls wait sheds no more than
// turning them away. Batches of arrivals shed more than that.
func QueueShedBounds(a float64, c int) (low, high float64, err error) {
	if err := firstError(checkLoad("offered load", a), checkPermits(c)); err != nil {
		return 0, 0, err
	}
	high, err = ErlangB(a, c)
	if a > 0 {
		low = max(0, 1-float64(c)/a)
	}
	return min(low, high), high, err
}

// QueueGrowth returns by how many calls a second an unbounded queue grows:
// arrivals a second minus permits/hold, never below 0. Hold is the mean in
// seconds. It is for callers of this package whose work waits rather than being
// refused; the commands size caps that refuse.
func QueueGrowth(arrivalRate float64, permits int, hold float64) (float64, error) {
	if err := firstError(checkNumber("rate", arrivalRate), checkPermits(permits), checkNumber("mean hold", hold)); err != nil {
		return 0, err
	}
	if hold == 0 {
		return 0, nil
	}
	return max(0, arrivalRate-float64(permits)/hold), nil
}

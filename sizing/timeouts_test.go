package sizing

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestWorstWait(t *testing.T) {
	d := func(s string) *big.Rat {
		if s == "" {
			return nil
		}
		return must[*big.Rat](t)(ParseDuration(s))
	}
	for _, tc := range []struct {
		name   string
		w      Wait
		want   string
		reason string
	}{
		{"zero attempts is one", Wait{Timeout: d("400ms")}, "400ms", "no retries, no queue"},
		{"queue", Wait{Attempts: 1, QueueWait: d("250ms"), Timeout: d("400ms")}, "650ms", "queue wait + timeout"},
		{"attempts", Wait{Attempts: 3, QueueWait: d("250ms"), Timeout: d("400ms")}, "1950ms", "each attempt queues again"},
		{"call", Wait{CoversCall: true, Attempts: 3, QueueWait: d("250ms"), Timeout: d("400ms")}, "1450ms", "the call queues once"},
		{"from enqueue", Wait{Attempts: 3, QueueWait: d("250ms"), Timeout: d("400ms"), TimeoutFromEnqueue: true}, "1200ms", "the timeout contains the wait"},
		{"call from enqueue", Wait{CoversCall: true, Attempts: 3, QueueWait: d("250ms"), Timeout: d("400ms"), TimeoutFromEnqueue: true}, "1200ms", "the same"},
		{"doubling", Wait{Attempts: 4, Timeout: d("1s"), BackoffInitial: d("50ms")}, "4350ms", "50 + 100 + 200"},
		{"capped", Wait{Attempts: 6, Timeout: d("1s"), BackoffInitial: d("50ms"), BackoffMax: d("200ms")}, "6750ms", "50 + 100 + 200 + 200 + 200"},
		{"capped between", Wait{Attempts: 5, Timeout: d("1s"), BackoffInitial: d("50ms"), BackoffMax: d("150ms")}, "5450ms", "50 + 100 + 150 + 150"},
		{"initial above max", Wait{Attempts: 3, Timeout: d("1s"), BackoffInitial: d("5s"), BackoffMax: d("1s")}, "5s", "1 + 1"},
		{"no pause", Wait{Attempts: 1000000000, Timeout: d("1s"), BackoffInitial: d("0s")}, "1000000000s", "0 doubled stays 0"},
		{"polly 376", Wait{CoversCall: true, Attempts: 4, Timeout: d("0s"), BackoffInitial: d("1s")}, "7s", "a failing item holds its slot 7 s more"},
		{"many", Wait{Attempts: 1000000001, Timeout: d("1s"), BackoffInitial: d("1s"), BackoffMax: d("2s")}, "3000000000s", "1 + 999,999,999 x 2: closed form"},
		{"deadline of the design", Wait{Attempts: 2, QueueWait: d("250ms"), Timeout: d("400ms"), BackoffInitial: d("50ms"), BackoffMax: d("200ms")}, "1350ms", "fits 2 s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := must[*big.Rat](t)(WorstWait(tc.w))
			if got.Cmp(d(tc.want)) != 0 {
				t.Errorf("%s, want %s: %s", FormatDuration(got), tc.want, tc.reason)
			}
		})
	}
}

func TestWorstWaitErrors(t *testing.T) {
	one, bad := ratInt(1), rat(t, "-1")
	if _, err := WorstWait(Wait{}); !errors.Is(err, ErrUnbounded) {
		t.Errorf("without a timeout: %v", err)
	}
	for _, tc := range []struct {
		w    Wait
		want string
	}{
		{Wait{Attempts: -1, Timeout: one}, "max_attempts is -1"},
		{Wait{Timeout: bad}, "timeout is -1"},
		{Wait{Timeout: one, QueueWait: bad}, "queue wait is -1"},
		{Wait{Timeout: one, BackoffInitial: bad}, "backoff initial is -1"},
		{Wait{Timeout: one, BackoffInitial: one, BackoffMax: bad}, "backoff max is -1"},
		{Wait{Timeout: one, BackoffMax: one}, "max but no initial"},
		{Wait{Timeout: one, BackoffInitial: one, Attempts: math.MaxInt}, "without a max"},
	} {
		_, err := WorstWait(tc.w)
		wantError(t, err, tc.want)
	}
}

func TestWorstWaitProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	ms := func(n int64) *big.Rat { return big.NewRat(rng.Int64N(n), 1000) }
	for range 2000 {
		w := Wait{Attempts: 1 + rng.IntN(6), QueueWait: ms(500), Timeout: ms(2000), BackoffInitial: ms(100), BackoffMax: ms(1000)}
		attempt := must[*big.Rat](t)(WorstWait(w))
		more := w
		more.Attempts++
		if must[*big.Rat](t)(WorstWait(more)).Cmp(attempt) < 0 {
			t.Fatalf("%+v: one more attempt waits shorter", w)
		}
		call := w
		call.CoversCall = true
		if must[*big.Rat](t)(WorstWait(call)).Cmp(attempt) > 0 {
			t.Fatalf("%+v: a permit for the call waits longer than one per attempt", w)
		}
		sum, pause := new(big.Rat), new(big.Rat).Set(w.BackoffInitial)
		for range w.Attempts - 1 {
			sum.Add(sum, minRat(pause, w.BackoffMax))
			pause.Add(pause, pause)
		}
		if got := must[*big.Rat](t)(w.backoffs(w.Attempts - 1)); got.Cmp(sum) != 0 {
			t.Fatalf("%+v: backoffs %v, one by one %v", w, got, sum)
		}
	}
}

// TestCallHold holds that the worst wait is the call's own time and its waits.
func TestCallHold(t *testing.T) {
	w := Wait{Attempts: 3, QueueWait: rat(t, "0.25"), Timeout: rat(t, "0.4"), BackoffInitial: rat(t, "0.05")}
	for _, covers := range []bool{false, true} {
		w.CoversCall = covers
		if got := must[*big.Rat](t)(CallHold(w)); got.Cmp(rat(t, "1.35")) != 0 {
			t.Errorf("%s, want 3 x 400ms + 50ms + 100ms", FormatDuration(got))
		}
	}
	if _, err := CallHold(Wait{Attempts: 2}); !errors.Is(err, ErrUnbounded) {
		t.Errorf("without a timeout: %v", err)
	}
}

func TestQueueWait(t *testing.T) {
	for _, tc := range []struct {
		length, permits int
		hold, want      string
		reason          string
	}{
		{0, 5, "0.4", "0", "nobody waits"},
		{1, 5, "0.4", "0.4", "the first free permit is its own, a hold away at worst"},
		{5, 5, "0.4", "0.4", "all permits come free within one hold"},
		{6, 5, "0.4", "0.8", "one more is a second turn"},
		{20, 1, "0.4", "8", "one after the other"},
		{MaxPermits, MaxPermits, "1", "1", "no overflow at the ends"},
		{3, 2, "0", "0", "no hold, no wait"},
	} {
		got := must[*big.Rat](t)(QueueWait(tc.length, tc.permits, rat(t, tc.hold)))
		if got.Cmp(rat(t, tc.want)) != 0 {
			t.Errorf("%d waiters, %d permits, %s s each: %s s, want %s: %s", tc.length, tc.permits, tc.hold, FormatNumber(got), tc.want, tc.reason)
		}
	}
	one := ratInt(1)
	for _, tc := range []struct {
		length, permits int
		hold            *big.Rat
		want            string
	}{
		{-1, 1, one, "queue length is -1"},
		{MaxPermits + 1, 1, one, "queue length"},
		{1, 0, one, "permits is 0"},
		{1, 1, nil, "hold is missing"},
		{1, 1, rat(t, "-1"), "hold is -1"},
	} {
		_, err := QueueWait(tc.length, tc.permits, tc.hold)
		wantError(t, err, tc.want)
	}
}

// TestQueueWaitSimulated plays the worst case: all permits were taken a moment
// ago, each is held for as long as it may be, and the waiters go in order.
func TestQueueWaitSimulated(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	for range 500 {
		length, permits, hold := 1+rng.IntN(60), 1+rng.IntN(20), 1+rng.IntN(9)
		free := make([]int, permits) // when each comes free next
		for i := range free {
			free[i] = hold
		}
		last := 0
		for range length {
			i := slices.Index(free, slices.Min(free))
			last, free[i] = free[i], free[i]+hold
		}
		if got := Float(must[*big.Rat](t)(QueueWait(length, permits, ratInt(hold)))); got != float64(last) {
			t.Fatalf("%d waiters, %d permits, %d s each: %v s, played %d s", length, permits, hold, got, last)
		}
	}
}

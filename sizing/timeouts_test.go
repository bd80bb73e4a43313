package sizing

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
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
		{"polly 376", Wait{CoversCall: true, Attempts: 4, Timeout: d("0s"), Backoffs: []*big.Rat{d("1s"), d("2s"), d("4s")}}, "7s", "a failing item holds its slot 7 s more"},
		{"list too long", Wait{Attempts: 2, Timeout: d("1s"), Backoffs: []*big.Rat{d("1s"), d("2s"), d("4s")}}, "3s", "one retry, one pause"},
		{"list too short", Wait{Attempts: 4, Timeout: d("1s"), Backoffs: []*big.Rat{d("1s"), d("2s")}}, "9s", "the last one repeats"},
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
		{Wait{Timeout: one, Backoffs: []*big.Rat{bad}}, "backoff is -1"},
		{Wait{Timeout: one, Backoffs: []*big.Rat{nil}}, "backoff is missing"},
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

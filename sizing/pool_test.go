package sizing

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestPoolAvailable(t *testing.T) {
	for _, tc := range []struct {
		size, reserved int
		ratio          string
		permits        int
		fits           bool
		reason         string
	}{
		{100, 10, "", 15 + 40 + 10 + 25, true, "published: 90 fits 100 - 10"},
		{100, 10, "", 91, false, "published: 91 does not"},
		{100, 10, "1.2", 108, true, "a declared overcommit"},
		{100, 10, "1.2", 109, false, "and no more than that"},
		{10, 0, "1.1", 11, true, "exact: 10 x 1.1 is 11"},
		{7, 0, "1.5", 10, true, "floor(10.5)"},
		{7, 0, "1.5", 11, false, "floor(10.5)"},
		{10, 10, "", 0, true, "all reserved"},
	} {
		p := Pool{Size: tc.size, Reserved: tc.reserved, Overcommit: rat(t, tc.ratio)}
		got := must[int](t)(p.Available())
		if (tc.permits <= got) != tc.fits {
			t.Errorf("%+v has %d available, %d fits should be %v: %s", p, got, tc.permits, tc.fits, tc.reason)
		}
	}
}

func TestPoolErrors(t *testing.T) {
	for _, tc := range []struct {
		p    Pool
		want string
	}{
		{Pool{Size: 0}, "pool size is 0"},
		{Pool{Size: 5, Reserved: 6}, "more than the pool size 5"},
		{Pool{Size: 5, Reserved: -1}, "reserved is -1"},
		{Pool{Size: 5, Overcommit: rat(t, "0.5")}, "overcommit ratio is 0.5"},
		{Pool{Size: math.MaxInt, Overcommit: rat(t, "2")}, "too large"},
	} {
		_, err := tc.p.Available()
		wantError(t, err, tc.want)
	}
	_, err := Pool{Reserved: math.MaxInt}.SizeFor(1)
	wantError(t, err, "too large")
	_, err = Pool{}.SizeFor(-1)
	wantError(t, err, "permits is -1")
	_, err = Pool{Reserved: -1}.SizeFor(1)
	wantError(t, err, "reserved is -1")
}

func TestSizeForIsSmallest(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for range 2000 {
		p := Pool{Reserved: rng.IntN(20), Overcommit: big.NewRat(100+rng.Int64N(200), 100)}
		permits := rng.IntN(1000)
		p.Size = must[int](t)(p.SizeFor(permits))
		if got := must[int](t)(p.Available()); got < permits {
			t.Fatalf("%+v for %d permits has %d", p, permits, got)
		}
		if p.Size--; p.Size < max(1, p.Reserved) {
			continue
		}
		if got := must[int](t)(p.Available()); got >= permits {
			t.Fatalf("%+v would do for %d permits", p, permits)
		}
	}
}

func TestThreadsNeeded(t *testing.T) {
	for _, tc := range []struct{ threads, k, want int }{{32, 2, 33}, {3, 4, 10}, {8, 1, 1}, {1, 1, 1}} {
		if got := must[int](t)(ThreadsNeeded(tc.threads, tc.k)); got != tc.want {
			t.Errorf("%d threads with %d connections need %d, want %d", tc.threads, tc.k, got, tc.want)
		}
	}
	for _, tc := range [][2]int{{0, 1}, {1, 0}, {-1, 2}} {
		_, err := ThreadsNeeded(tc[0], tc[1])
		wantError(t, err, "at least 1 of each")
	}
	_, err := ThreadsNeeded(math.MaxInt, 3)
	wantError(t, err, "too large")
	_, err = ThreadsNeeded(math.MaxInt, 2)
	wantError(t, err, "too large")
}

func TestBackend(t *testing.T) {
	for _, tc := range []struct {
		b            Backend
		used         int
		fits         bool
		maxInstances int
		reason       string
	}{
		{Backend{100, 3, 0, []Draw{{"web", 20, 1, 5}}}, 100, false, 4, "mdn 386: 5 pods of 20 is the fix, and exceeds 97"},
		{Backend{100, 3, 0, []Draw{{"web", 19, 1, 5}}}, 95, true, 5, "mdn 386: floor(97/5)"},
		{Backend{100, 3, 0, []Draw{{"web", 16, 1, 6}}}, 96, true, 6, "mdn 386: floor(97/6), with one surge pod"},
		{Backend{200, 0, 0, []Draw{{"web", 25, 1, 12}}}, 300, false, 8, "createmod 1482: a full set surges"},
		{Backend{200, 0, 0, []Draw{{"web", 10, 1, 12}}}, 120, true, 20, "createmod 1482: the fix"},
		{Backend{6000, 0, 0, []Draw{{"pod", 20, 1, 460}}}, 9200, false, 300, "n8n 106: 460 pods of 20 on two PgBouncers"},
		{Backend{6000, 0, 0, []Draw{{"pod", 13, 1, 460}}}, 5980, true, 461, "n8n 106: a share of at most 13"},
		{Backend{500, 13, 40, []Draw{{"web", 10, 2, 15}, {"job", 5, 1, 3}}}, 355, true, 21, "processes multiply, others and other draws count"},
		{Backend{500, 13, 600, []Draw{{"web", 10, 1, 1}}}, 610, false, 0, "nothing is left"},
	} {
		used, fits := must[int](t)(tc.b.Used()), must[bool](t)(tc.b.Fits())
		most := must[int](t)(tc.b.MaxInstances(0))
		if used != tc.used || fits != tc.fits || most != tc.maxInstances {
			t.Errorf("%+v: used %d, fits %v, at most %d instances; want %d, %v, %d: %s", tc.b, used, fits, most, tc.used, tc.fits, tc.maxInstances, tc.reason)
		}
	}
}

func TestBackendErrors(t *testing.T) {
	ok := []Draw{{"web", 1, 1, 1}}
	for _, tc := range []struct {
		b    Backend
		want string
	}{
		{Backend{0, 0, 0, ok}, "capacity is 0"},
		{Backend{10, 11, 0, ok}, "11 reserved"},
		{Backend{10, 0, -1, ok}, "others is -1"},
		{Backend{10, 0, 0, []Draw{{"web", -1, 1, 1}}}, `pool "web" draws size -1`},
		{Backend{10, 0, 0, []Draw{{"web", 1, 0, 1}}}, "x 0 processes"},
		{Backend{10, 0, 0, []Draw{{"web", math.MaxInt, 2, 1}}}, "too large"},
		{Backend{10, 0, 0, []Draw{{"web", math.MaxInt, 1, 2}}}, "too large"},
		{Backend{10, 0, 1, []Draw{{"web", math.MaxInt, 1, 1}}}, "too large"},
	} {
		_, err := tc.b.Fits()
		wantError(t, err, tc.want)
	}
	_, err := Backend{10, 0, 0, ok}.MaxInstances(1)
	wantError(t, err, "draw 1 of 1")
	_, err = Backend{10, 0, 0, []Draw{{"web", 0, 1, 1}}}.MaxInstances(0)
	wantError(t, err, "any number")
	_, err = Backend{10, 0, 0, []Draw{{"web", 1, 0, 1}}}.MaxInstances(0)
	wantError(t, err, "process")
	_, err = Backend{10, 0, -1, ok}.MaxInstances(0)
	wantError(t, err, "others")
	_, err = Backend{0, 0, 0, ok}.MaxInstances(0)
	wantError(t, err, "capacity")
}

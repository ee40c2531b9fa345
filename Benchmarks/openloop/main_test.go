// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// A server that stalls once for a second; a client that waited for it would see one slow answer in ten thousand.
func TestStallIsSeenByAllThatWereDueMeanwhile(t *testing.T) {
	started := time.Now()
	var lock sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		lock.Lock()
		defer lock.Unlock()
		if since := time.Since(started); since > time.Second && since < 2*time.Second {
			time.Sleep(2*time.Second - since)
		}
		_, _ = w.Write([]byte("{}"))
	}))
	defer server.Close()
	r, err := run(options{
		address: server.Listener.Addr().(*net.TCPAddr).String(), rate: 500, seconds: 4, connections: 4, seed: 1,
		drain: 5 * time.Second,
	})
	if err != nil || r.Failed != 0 || r.Unanswered != 0 {
		t.Fatal(r, err)
	}
	// For a quarter of the time the server answered nothing: a request of that time waited half a second on average.
	if r.P99 < 800_000 {
		t.Errorf("p99 %v us", r.P99)
	}
}

func TestWhatIsNeverAnsweredCounts(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	r, err := run(options{
		address: listener.Addr().String(), rate: 100, seconds: 1, connections: 2, seed: 1, drain: 200 * time.Millisecond,
	})
	if err != nil || r.Answered != 0 || r.Unanswered != r.Due || r.P50 < 200_000 {
		t.Error(r, err)
	}
}

func TestArrivalsHaveTheRate(t *testing.T) {
	for _, isEven := range []bool{true, false} {
		due := arrivals(options{rate: 10_000, seconds: 10, isEven: isEven, seed: 3})
		if math.Abs(float64(len(due))-100_000) > 1500 {
			t.Errorf("%d arrivals", len(due))
		}
	}
}

func TestHistogramIsTrueToOnePartIn128(t *testing.T) {
	for _, value := range []int64{0, 1, 127, 128, 255, 256, 257, 511, 512, 1000, 123_456_789, math.MaxInt64} {
		top := highest(bucket(value))
		if top < value || float64(top-value) > float64(value)/128 {
			t.Errorf("%d is in a bucket up to %d", value, top)
		}
	}
	var h histogram
	for value := int64(1); value <= 1000; value++ {
		h.add(value * 1000)
	}
	for share, expected := range map[float64]float64{0.5: 500, 0.99: 990, 0.999: 999, 1: 1000} {
		if got := h.microseconds(share); got < expected || got > expected*1.008 {
			t.Errorf("%v: %v instead of %v", share, got, expected)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

// Openloop asks for signatures at a fixed rate, whatever the server does, and measures from when each request was due.
//
// A client that waits for an answer before it asks again stops asking while the server stalls, and so leaves out what the
// users of that time would have seen ("coordinated omission"). Here the arrivals are laid down beforehand (Poisson, or
// evenly spaced): a request whose turn comes while all connections are busy waits, and that wait counts. What is not
// answered at the end counts with the time that it has waited until then.
//
// Usage: openloop -address HOST:PORT -key FILE [-rate N] [-seconds N] [-warmup N] [-connections N] [-even] [-seed N]
//
// Prints one JSON object, times in microseconds; "late" is how long after it was due this program itself
// could send a request, so that its own share of the latency is known.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/rand"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const path = "/v1/app-store/promotional-offers/signatures"

type options struct {
	address     string
	apiKey      string
	rate        float64
	seconds     float64
	warmup      float64
	connections int
	isEven      bool
	seed        int64
	drain       time.Duration
}

type result struct {
	Rate       float64 `json:"rate"`
	Due        int64   `json:"due"`
	Answered   int64   `json:"answered"`
	Failed     int64   `json:"failed"`
	Unanswered int64   `json:"unanswered"`
	Achieved   float64 `json:"achieved"`
	P50        float64 `json:"p50"`
	P99        float64 `json:"p99"`
	P999       float64 `json:"p999"`
	Max        float64 `json:"max"`
	LateP50    float64 `json:"lateP50"`
	LateP99    float64 `json:"lateP99"`
}

// arrivals are the instants at which requests are due, from the start of the run.
func arrivals(o options) []time.Duration {
	random := rand.New(rand.NewSource(o.seed))
	end := o.warmup + o.seconds
	due := make([]time.Duration, 0, int(o.rate*end)+1)
	for at := 0.0; ; {
		if o.isEven {
			at += 1 / o.rate
		} else {
			at += random.ExpFloat64() / o.rate
		}
		if at >= end {
			return due
		}
		due = append(due, time.Duration(at*float64(time.Second)))
	}
}

// requests writes bodies for customers that were never seen before.
type requests struct {
	text   []byte
	token  int
	random *rand.Rand
}

func newRequests(apiKey string, seed int64) *requests {
	const token = "00000000-0000-4000-8000-000000000000"
	body := `{"bundleId":"com.example.app","productId":"com.example.pro.monthly","offerId":"winback_3m",` +
		`"appAccountToken":"` + token + `",` +
		`"facts":{"status":"expired","expiresAt":"2026-01-01T00:00:00Z"},"formats":["v1"]}`
	text := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, apiKey, len(body), body)
	return &requests{[]byte(text), strings.Index(text, token), rand.New(rand.NewSource(seed))}
}

func (r *requests) next() []byte {
	const digits = "0123456789abcdef"
	for place := 0; place < 36; place++ {
		switch place {
		case 8, 13, 14, 18, 19, 23:
		default:
			r.text[r.token+place] = digits[r.random.Intn(16)]
		}
	}
	return r.text
}

// readAnswer reads one answer with a Content-Length, and whether it was a 200.
func readAnswer(reader *bufio.Reader) (bool, error) {
	line, err := reader.ReadSlice('\n')
	if err != nil {
		return false, err
	}
	isOK := len(line) > 12 && string(line[9:12]) == "200"
	length := -1
	for {
		line, err = reader.ReadSlice('\n')
		if err != nil {
			return false, err
		}
		if len(line) <= 2 {
			break
		}
		const name = "content-length:"
		if len(line) > len(name) && strings.EqualFold(string(line[:len(name)]), name) {
			if _, err = fmt.Sscan(string(line[len(name):]), &length); err != nil {
				return false, err
			}
		}
	}
	if length < 0 {
		return false, fmt.Errorf("an answer without Content-Length")
	}
	_, err = reader.Discard(length)
	return isOK, err
}

// run measures; it ends when all is answered, or some time after the last request was due.
func run(o options) (result, error) {
	due := arrivals(o)
	connections := make([]net.Conn, o.connections)
	for index := range connections {
		connection, err := net.Dial("tcp", o.address)
		if err != nil {
			return result{}, err
		}
		connections[index] = connection
	}
	// The queue has room for all, so that handing over never waits.
	queue := make(chan int, len(due))
	latencies := make([]int64, len(due))
	var failed atomic.Int64
	var workers sync.WaitGroup
	start := time.Now().Add(10 * time.Millisecond)
	for index, connection := range connections {
		workers.Add(1)
		go func(connection net.Conn, seed int64) {
			defer workers.Done()
			requests := newRequests(o.apiKey, seed)
			reader := bufio.NewReaderSize(connection, 16<<10)
			for number := range queue {
				_, err := connection.Write(requests.next())
				isOK := false
				if err == nil {
					isOK, err = readAnswer(reader)
				}
				if err != nil {
					failed.Add(1)
					return
				}
				if !isOK {
					failed.Add(1)
				}
				atomic.StoreInt64(&latencies[number], int64(time.Since(start)-due[number]))
			}
		}(connection, o.seed<<16+int64(index))
	}
	late := handOver(due, start, queue)
	close(queue)
	ended := make(chan struct{})
	go func() {
		workers.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(o.drain):
	}
	for _, connection := range connections {
		connection.Close()
	}
	return summary(o, due, latencies, late, time.Since(start), failed.Load()), nil
}

// handOver puts each request into the queue when it is due, and returns how late each was.
func handOver(due []time.Duration, start time.Time, queue chan<- int) []int64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// Go's timers wake within a millisecond; the kernel's, without slack, within some ten microseconds.
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_TIMERSLACK, 1, 0)
	late := make([]int64, len(due))
	for number, at := range due {
		for {
			wait := at - time.Since(start)
			if wait <= 0 {
				late[number] = int64(-wait)
				break
			}
			interval := syscall.NsecToTimespec(int64(wait))
			_ = syscall.Nanosleep(&interval, nil)
		}
		queue <- number
	}
	return late
}

func summary(o options, due []time.Duration, latencies, late []int64, elapsed time.Duration, failed int64) result {
	var waits, lateness histogram
	r := result{Rate: o.rate, Failed: failed}
	var last time.Duration
	for number, at := range due {
		if at.Seconds() < o.warmup {
			continue
		}
		r.Due++
		latency := atomic.LoadInt64(&latencies[number])
		if latency == 0 {
			r.Unanswered++
			latency = int64(elapsed - at)
		} else if end := at + time.Duration(latency); end > last {
			last = end
		}
		waits.add(latency)
		lateness.add(late[number])
	}
	r.Answered = r.Due - r.Unanswered
	if span := last.Seconds() - o.warmup; span > 0 {
		r.Achieved = float64(r.Answered) / span
	}
	r.P50, r.P99, r.P999 = waits.microseconds(0.5), waits.microseconds(0.99), waits.microseconds(0.999)
	r.Max = float64(waits.max) / 1000
	r.LateP50, r.LateP99 = lateness.microseconds(0.5), lateness.microseconds(0.99)
	return r
}

func main() {
	var o options
	var keyFile string
	flag.StringVar(&o.address, "address", "127.0.0.1:8080", "the server")
	flag.StringVar(&keyFile, "key", "", "a file with the API key")
	flag.Float64Var(&o.rate, "rate", 1000, "requests a second")
	flag.Float64Var(&o.seconds, "seconds", 3, "how long to measure")
	flag.Float64Var(&o.warmup, "warmup", 0.5, "seconds before that, which don't count")
	flag.IntVar(&o.connections, "connections", 64, "how many connections")
	flag.BoolVar(&o.isEven, "even", false, "evenly spaced instead of Poisson arrivals")
	flag.Int64Var(&o.seed, "seed", time.Now().UnixNano(), "what arrivals and customers are made from")
	flag.DurationVar(&o.drain, "drain", 5*time.Second, "how long to wait for the last answers")
	flag.Parse()
	text, err := os.ReadFile(keyFile)
	if err != nil {
		log.Fatal(err)
	}
	o.apiKey = strings.TrimSpace(string(text))
	r, err := run(o)
	if err != nil {
		log.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		log.Fatal(err)
	}
}

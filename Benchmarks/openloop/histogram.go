// SPDX-License-Identifier: Apache-2.0

package main

import "math/bits"

// histogram counts durations in nanoseconds, each to within one part in 128.
//
// Up to 256 there is a bucket for each value; beyond, 128 for each power of two.
type histogram struct {
	counts [128 * 58]int64
	total  int64
	max    int64
}

func (h *histogram) add(nanoseconds int64) {
	if nanoseconds < 0 {
		nanoseconds = 0
	}
	h.counts[bucket(nanoseconds)]++
	h.total++
	if nanoseconds > h.max {
		h.max = nanoseconds
	}
}

func bucket(value int64) int {
	shift := bits.Len64(uint64(value)) - 8
	if shift <= 0 {
		return int(value)
	}
	return shift<<7 + int(value>>shift)
}

// highest is the largest value of a bucket.
func highest(bucket int) int64 {
	if bucket < 256 {
		return int64(bucket)
	}
	shift := bucket>>7 - 1
	return int64(bucket-shift<<7+1)<<shift - 1
}

// microseconds is what a share of the durations does not exceed.
func (h *histogram) microseconds(share float64) float64 {
	wanted := int64(share*float64(h.total) + 0.5)
	if wanted < 1 {
		wanted = 1
	}
	var seen int64
	for index, count := range h.counts {
		seen += count
		if count > 0 && seen >= wanted {
			value := highest(index)
			if value > h.max {
				value = h.max
			}
			return float64(value) / 1000
		}
	}
	return 0
}

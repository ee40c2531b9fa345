// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strconv"
	"testing"
)

// Tries damage on a log that another program wrote: LOGVERIFIER_FOLDER has log/ and vkey, and witness-vkey if there is
// one, as write_log.py would make them. LOGVERIFIER_STEP says which bytes to change: each, every second, and so on.
func TestRejectsDamageToTheGivenLog(t *testing.T) {
	folder := os.Getenv("LOGVERIFIER_FOLDER")
	if folder == "" {
		t.Skip("no log was given")
	}
	step, err := strconv.Atoi(os.Getenv("LOGVERIFIER_STEP"))
	if err != nil {
		t.Fatal(err)
	}
	s := &sample{folder: folder}
	var witnesses []string
	if _, err := os.Stat(s.path("witness-vkey")); err == nil {
		witnesses = append(witnesses, s.text(t, "witness-vkey"))
	}
	if s.trust, err = newTrust(s.text(t, "vkey"), witnesses); err != nil {
		t.Fatal(err)
	}
	var count int
	for path, content := range filesOf(t, s) {
		for at := count % step; at < len(content); at += step {
			for _, mask := range []byte{1, 128} {
				if verdict(&damaged{s.log(), path, turned(content, at, mask), false}, s.trust) == nil {
					t.Errorf("%s byte %d xor %d was accepted", path, at, mask)
				}
				count++
			}
		}
		if verdict(&damaged{s.log(), path, nil, true}, s.trust) == nil {
			t.Errorf("the log without %s was accepted", path)
		}
	}
	t.Logf("%d changes were rejected", count)
}

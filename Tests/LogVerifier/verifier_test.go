// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A log that write_log.py made.
type sample struct {
	folder string
	trust  *trust
}

func writeSample(t *testing.T, size int, options ...string) *sample {
	t.Helper()
	folder := t.TempDir()
	words := append([]string{"-B", "write_log.py", folder, fmt.Sprint(size)}, options...)
	if output, err := exec.Command("/usr/bin/python3", words...).CombinedOutput(); err != nil {
		t.Fatalf("write_log.py: %v %s", err, output)
	}
	s := &sample{folder: folder}
	trust, err := newTrust(s.text(t, "vkey"), []string{s.text(t, "witness-vkey")})
	if err != nil {
		t.Fatal(err)
	}
	s.trust = trust
	return s
}

func (s *sample) path(name string) string { return filepath.Join(s.folder, filepath.FromSlash(name)) }

func (s *sample) text(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(s.path(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (s *sample) log() source { return folderSource(s.path("log")) }

// The verdict on a log, without its entries.
func verdict(source source, trust *trust) error {
	_, err := verifyLog(source, trust, func([]byte) error { return nil })
	return err
}

func TestAcceptsLogsOfEverySize(t *testing.T) {
	for _, size := range []int{1, 2, 3, 7, 255, 256, 257, 511, 512, 513, 65535, 65536, 65537, 70000} {
		s := writeSample(t, size)
		var count int
		head, err := verifyLog(s.log(), s.trust, func([]byte) error { count++; return nil })
		if err != nil || head.size != int64(size) || count != size || len(head.cosignatures) != 1 {
			t.Errorf("%d entries: %v %d", size, err, count)
		}
	}
}

func TestAcceptsEveryProof(t *testing.T) {
	for _, size := range []int{1, 2, 3, 8, 33} {
		var all []string
		for index := 0; index < size; index++ {
			all = append(all, fmt.Sprint(index))
		}
		s := writeSample(t, size, "--proofs", strings.Join(all, ","))
		for _, index := range all {
			if err := proofVerdict(s, s.text(t, "proofs/"+index), s.text(t, "entries/"+index)); err != nil {
				t.Errorf("%s of %d: %v", index, size, err)
			}
		}
	}
}

func proofVerdict(s *sample, text, entry string) error {
	proof, err := parseProof([]byte(text))
	if err != nil {
		return err
	}
	_, err = proof.verify(s.trust, []byte(entry))
	return err
}

func TestAcceptsTheCheckpointsOnTheWay(t *testing.T) {
	s := writeSample(t, 66000, "--history", "1,2,255,256,257,300,65535,65536,65537,66000")
	// No longer needed: the tile is full now.
	for _, tile := range []string{"tile/0/000.p/255", "tile/entries/000.p/2", "tile/1/000.p/255"} {
		if err := os.Remove(s.path("log/" + tile)); err != nil {
			t.Fatal(err)
		}
	}
	head, err := s.trust.open([]byte(s.text(t, "log/checkpoint")))
	if err != nil {
		t.Fatal(err)
	}
	// Not a folder: for a folder, less is checked.
	served := &recorder{s.log(), map[string][]byte{}}
	count, err := verifyHistory(served, s.trust, head, s.path("history"))
	if err != nil || count != 10 {
		t.Errorf("%d, %v", count, err)
	}
}

func TestAcceptsAFolderThatHasTheTilesOfOneCheckpoint(t *testing.T) {
	s, whole := writeSample(t, 600, "--history", "100,550"), 0
	alone := writeSample(t, 600, "--from", s.folder)
	head, err := alone.trust.open([]byte(alone.text(t, "log/checkpoint")))
	if err == nil {
		whole, err = verifyHistory(alone.log(), s.trust, head, s.path("history"))
	}
	if err != nil || whole != 2 {
		t.Errorf("%d, %v", whole, err)
	}
	served := &recorder{alone.log(), map[string][]byte{}}
	if _, err := verifyHistory(served, s.trust, head, s.path("history")); err == nil {
		t.Error("a service that lacks a tile of an earlier checkpoint was accepted")
	}
}

func TestReadsOverHTTPWithAnAPIKey(t *testing.T) {
	s := writeSample(t, 300)
	files := http.FileServer(http.Dir(s.path("log")))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer id.secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		http.StripPrefix("/audit", files).ServeHTTP(w, r)
	}))
	defer server.Close()
	apiKey := s.path("api-key")
	if err := os.WriteFile(apiKey, []byte("id.secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		path, apiKey string
		good         bool
	}{
		{"/audit", apiKey, true},
		{"/audit/", apiKey, true},
		{"/audit", "", false},
		{"/elsewhere", apiKey, false},
	} {
		source, err := openSource(server.URL+row.path, row.apiKey)
		if err != nil {
			t.Fatal(err)
		}
		if err := verdict(source, s.trust); (err == nil) != row.good {
			t.Errorf("%v: %v", row, err)
		}
	}
}

func TestDoesNotCarryAnAPIKeyElsewhere(t *testing.T) {
	var carried bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { carried = true }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusFound))
	defer server.Close()
	apiKey := filepath.Join(t.TempDir(), "api-key")
	if err := os.WriteFile(apiKey, []byte("id.secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	source, err := openSource(server.URL, apiKey)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := source.read("checkpoint"); err == nil || carried {
		t.Errorf("%v %v", err, carried)
	}
}

func TestTheCommandSaysWhatItVerified(t *testing.T) {
	s := writeSample(t, 300, "--history", "100,200", "--proofs", "7")
	key, witness := s.text(t, "vkey"), s.text(t, "witness-vkey")
	entries := s.path("all")
	for _, row := range []struct{ words, says string }{
		{"log --vkey " + key + " --witness " + witness + " --history " + s.path("history") + " --entries " + entries +
			" " + s.path("log"), "verified 300 entries of example.com/audit"},
		{"log --vkey " + key + " --history " + s.path("history") + " " + s.path("log"),
			"consistent with 2 earlier checkpoints"},
		{"proof --vkey " + key + " --entry " + s.path("entries/7") + " " + s.path("proofs/7"), "verified entry 7"},
		{"checkpoint --vkey " + key + " " + s.path("history/100"), "size 100"},
		{"checkpoint --vkey " + key + " --witness " + witness + " " + s.path("history/100"),
			"cosigned by witness.example"},
	} {
		var output bytes.Buffer
		a, err := parse(strings.Fields(row.words), io.Discard)
		if err == nil {
			err = run(a, &output)
		}
		if err != nil || !strings.Contains(output.String(), row.says) {
			t.Errorf("%s: %v %s", row.words, err, output.String())
		}
	}
	text := s.text(t, "all")
	if strings.Count(text, "\n") != 300 || !strings.Contains(text, s.text(t, "entries/7")+"\n") {
		t.Error("not the entries")
	}
}

func TestRefusesWrongUsage(t *testing.T) {
	for _, words := range []string{
		"", "fsck", "log", "log x", "log --vkey k", "log --vkey k a b", "proof --vkey k p", "log --vkey k --entry e x",
	} {
		if _, err := parse(strings.Fields(words), io.Discard); err == nil {
			t.Errorf("%q was taken", words)
		}
	}
}

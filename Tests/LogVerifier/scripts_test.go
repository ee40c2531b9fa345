// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Runs one of the scripts that need openssl alone, on files with these contents.
func script(t *testing.T, name, vkey string, contents ...string) error {
	t.Helper()
	words := []string{vkey}
	for i, content := range contents {
		path := fmt.Sprintf("%s/%d", t.TempDir(), i)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		words = append(words, path)
	}
	output, err := exec.Command("./"+name, words...).CombinedOutput()
	if err != nil && !strings.Contains(string(output), "NOT VERIFIED") {
		t.Errorf("%s: %v %s", name, err, output)
	}
	return err
}

func TestTheScriptAcceptsEveryProof(t *testing.T) {
	for _, size := range []int{1, 2, 5, 8} {
		var all []string
		for index := 0; index < size; index++ {
			all = append(all, fmt.Sprint(index))
		}
		s := writeSample(t, size, "--proofs", strings.Join(all, ","))
		for _, index := range all {
			err := script(t, "verify-inclusion", s.text(t, "vkey"), s.text(t, "proofs/"+index), s.text(t, "entries/"+index))
			if err != nil {
				t.Errorf("%s of %d: %v", index, size, err)
			}
		}
	}
}

func TestTheScriptRejectsEveryChangedByteOfACheckpoint(t *testing.T) {
	s := writeSample(t, 5)
	text := s.text(t, "log/checkpoint")
	if err := script(t, "verify-checkpoint", s.text(t, "vkey"), text); err != nil {
		t.Fatal(err)
	}
	// What comes after the log's signature are those of others, which the script does not look at.
	own := strings.Index(text, "— witness")
	for at := 0; at < own-1; at++ {
		if script(t, "verify-checkpoint", s.text(t, "vkey"), string(turned([]byte(text), at, 1))) == nil {
			t.Errorf("byte %d was accepted", at)
		}
	}
	if script(t, "verify-checkpoint", s.text(t, "witness-vkey"), text) == nil {
		t.Error("another key was accepted")
	}
}

func TestTheScriptRejectsProofsOfSomethingElse(t *testing.T) {
	s := writeSample(t, 6, "--proofs", "2,3")
	proof, entry := s.text(t, "proofs/2"), s.text(t, "entries/2")
	own := strings.Index(proof, "— witness")
	for at := 0; at < own-1; at += 3 {
		if script(t, "verify-inclusion", s.text(t, "vkey"), string(turned([]byte(proof), at, 1)), entry) == nil {
			t.Errorf("byte %d of the proof was accepted", at)
		}
	}
	lines := strings.SplitAfter(proof, "\n")
	for what, row := range map[string]struct{ proof, entry string }{
		"another entry":   {proof, s.text(t, "entries/3")},
		"a longer entry":  {proof, entry + "\n"},
		"a shorter entry": {proof, entry[1:]},
		"another index":   {strings.Replace(proof, "index 2", "index 3", 1), entry},
		"an index beyond": {strings.Replace(proof, "index 2", "index 6", 1), entry},
		"a hash less":     {strings.Join(append(append([]string{}, lines[:2]...), lines[3:]...), ""), entry},
		"a hash more":     {strings.Join(append(append([]string{}, lines[:3]...), lines[2:]...), ""), entry},
		"nothing":         {"", entry},
	} {
		if script(t, "verify-inclusion", s.text(t, "vkey"), row.proof, row.entry) == nil {
			t.Errorf("%s was accepted", what)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/rand"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// A log one of whose files is not what it was.
type damaged struct {
	source
	path    string
	content []byte
	missing bool
}

func (d *damaged) read(path string) ([]byte, error) {
	switch {
	case path != d.path:
		return d.source.read(path)
	case d.missing:
		return nil, fs.ErrNotExist
	default:
		return d.content, nil
	}
}

// The files that a log's newest checkpoint implies.
type recorder struct {
	source
	files map[string][]byte
}

func (r *recorder) read(path string) ([]byte, error) {
	content, err := r.source.read(path)
	if err == nil {
		r.files[path] = content
	}
	return content, err
}

func filesOf(t *testing.T, s *sample) map[string][]byte {
	t.Helper()
	r := &recorder{s.log(), map[string][]byte{}}
	if err := verdict(r, s.trust); err != nil {
		t.Fatal(err)
	}
	return r.files
}

// One byte with some of its bits turned.
func turned(content []byte, at int, mask byte) []byte {
	changed := append([]byte{}, content...)
	changed[at] ^= mask
	return changed
}

func TestRejectsEveryBitTurned(t *testing.T) {
	s := writeSample(t, 5)
	var count int
	for path, content := range filesOf(t, s) {
		for at := range content {
			for _, mask := range []byte{1, 2, 4, 8, 16, 32, 64, 128, 255} {
				count++
				if verdict(&damaged{s.log(), path, turned(content, at, mask), false}, s.trust) == nil {
					t.Errorf("%s byte %d xor %d was accepted", path, at, mask)
				}
			}
		}
	}
	if count < 5000 {
		t.Errorf("only %d were tried", count)
	}
}

func TestRejectsChangesInTilesOfEveryLevel(t *testing.T) {
	for _, row := range []struct {
		size, step int
		paths      []string
	}{
		{600, 13, []string{
			"tile/entries/000", "tile/entries/002.p/88", "tile/0/000", "tile/0/002.p/88", "tile/1/000.p/2",
		}},
		{70000, 1021, []string{
			"tile/entries/000", "tile/entries/273.p/112", "tile/0/000", "tile/0/273.p/112",
			"tile/1/000", "tile/1/001.p/17", "tile/2/000.p/1",
		}},
	} {
		s := writeSample(t, row.size)
		files := filesOf(t, s)
		for _, path := range row.paths {
			content, ok := files[path]
			if !ok {
				t.Errorf("%s was not read", path)
			}
			for at := 0; at < len(content); at += row.step {
				if verdict(&damaged{s.log(), path, turned(content, at, 1), false}, s.trust) == nil {
					t.Errorf("%d entries: %s byte %d was accepted", row.size, path, at)
				}
			}
		}
	}
}

func TestRejectsFilesThatAreMissingOrOfAnotherLength(t *testing.T) {
	s := writeSample(t, 600)
	for path, content := range filesOf(t, s) {
		for what, d := range map[string]*damaged{
			"missing":             {s.log(), path, nil, true},
			"empty":               {s.log(), path, nil, false},
			"a byte short":        {s.log(), path, content[:len(content)-1], false},
			"a hash short":        {s.log(), path, content[:len(content)-32], false},
			"a byte too long":     {s.log(), path, append(content[:len(content):len(content)], 0), false},
			"a newline too long":  {s.log(), path, append(content[:len(content):len(content)], '\n'), false},
			"there twice":         {s.log(), path, append(content[:len(content):len(content)], content...), false},
			"without its first":   {s.log(), path, content[1:], false},
			"with a hash more":    {s.log(), path, append(content[:len(content):len(content)], content[:32]...), false},
			"all zero":            {s.log(), path, make([]byte, len(content)), false},
			"with two swapped":    {s.log(), path, swapped(content), false},
			"an entry of nothing": {s.log(), path, append(content[:len(content):len(content)], 0, 0), false},
		} {
			if verdict(d, s.trust) == nil {
				t.Errorf("%s %s was accepted", path, what)
			}
		}
	}
}

// The first 32 bytes after the second 32.
func swapped(content []byte) []byte {
	return append(append(append([]byte{}, content[32:64]...), content[:32]...), content[64:]...)
}

func TestRejectsCheckpointsThatAreSignedWrong(t *testing.T) {
	s, other := writeSample(t, 5), writeSample(t, 5)
	good := s.text(t, "log/checkpoint")
	text, signatures, _ := strings.Cut(good, "\n\n")
	lines := strings.SplitAfter(signatures, "\n")
	_, strangers, _ := strings.Cut(other.text(t, "log/checkpoint"), "\n\n")
	strange := strings.SplitAfter(strangers, "\n")
	for what, row := range map[string]struct {
		note string
		good bool
	}{
		"as it was":                      {good, true},
		"with witness first":             {text + "\n\n" + lines[1] + lines[0], true},
		"with a stranger's line":         {good + strange[1], true},
		"without signatures":             {text + "\n\n", false},
		"without the log's":              {text + "\n\n" + lines[1], false},
		"without the witness's":          {text + "\n\n" + lines[0], false},
		"with the log's twice":           {good + lines[0], false},
		"with another key's":             {text + "\n\n" + strange[0] + lines[1], false},
		"with another witness's":         {text + "\n\n" + lines[0] + strange[1], false},
		"with an extension line":         {text + "\nmore\n\n" + signatures, false},
		"with a size with a zero before": {strings.Replace(good, "\n5\n", "\n05\n", 1), false},
		"of another size":                {strings.Replace(good, "\n5\n", "\n4\n", 1), false},
		"with carriage returns":          {strings.ReplaceAll(good, "\n", "\r\n"), false},
		"twice":                          {good + "\n" + good, false},
	} {
		_, err := s.trust.open([]byte(row.note))
		if (err == nil) != row.good {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestRejectsCheckpointsThatMakeNoSenseAlthoughTheyAreSigned(t *testing.T) {
	key, vkey, err := note.GenerateKey(rand.Reader, "example.com/audit")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(key)
	if err != nil {
		t.Fatal(err)
	}
	trust, err := newTrust(vkey, nil)
	if err != nil {
		t.Fatal(err)
	}
	root := strings.Repeat("A", 43) + "="
	for _, row := range []struct {
		text string
		good bool
	}{
		{"example.com/audit\n5\n" + root + "\n", true},
		{"example.com/other\n5\n" + root + "\n", false},
		{"example.com/audit\n5\n" + root + "\nan extension\n", false},
		{"example.com/audit\n5\n", false},
		{"\n5\n" + root + "\n", false},
		{"example.com/audit\n0\n" + root + "\n", false},
		{"example.com/audit\n05\n" + root + "\n", false},
		{"example.com/audit\n+5\n" + root + "\n", false},
		{"example.com/audit\n-5\n" + root + "\n", false},
		{"example.com/audit\n5 \n" + root + "\n", false},
		{"example.com/audit\n9223372036854775808\n" + root + "\n", false},
		{"example.com/audit\n5\n" + strings.Repeat("A", 42) + "B=\n", false},
		{"example.com/audit\n5\n" + strings.Repeat("A", 40) + "\n", false},
		{"example.com/audit\n5\n" + root + root + "\n", false},
	} {
		signed, err := note.Sign(&note.Note{Text: row.text}, signer)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := trust.open(signed); (err == nil) != row.good {
			t.Errorf("%q: %v", row.text, err)
		}
	}
}

func TestRejectsAHistoryThatIsAnother(t *testing.T) {
	s := writeSample(t, 600, "--history", "100,300")
	for what, row := range map[string]struct {
		size    int
		options []string
		good    bool
	}{
		"it grew":                       {700, nil, true},
		"it did not change":             {600, nil, true},
		"it was cut":                    {299, nil, false},
		"it forked before":              {700, []string{"--fork", "50"}, false},
		"it forked between":             {700, []string{"--fork", "299"}, false},
		"it forked after":               {700, []string{"--fork", "300"}, true},
		"it is a fork of the same size": {300, []string{"--fork", "299"}, false},
	} {
		now := writeSample(t, row.size, append(row.options, "--from", s.folder, "--history", "100,300")...)
		head, err := now.trust.open([]byte(now.text(t, "log/checkpoint")))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := verifyHistory(now.log(), now.trust, head, s.path("history")); (err == nil) != row.good {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestRejectsDamageInWhatWasSaved(t *testing.T) {
	s := writeSample(t, 600, "--history", "550,600")
	head, err := s.trust.open([]byte(s.text(t, "log/checkpoint")))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"tile/0/002.p/38", "tile/entries/002.p/38"} {
		content, err := s.log().read(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range []*damaged{
			{s.log(), path, turned(content, len(content)-1, 1), false},
			{s.log(), path, content[:len(content)-32], false},
			{s.log(), path, nil, true},
		} {
			if _, err := verifyHistory(d, s.trust, head, s.path("history")); err == nil {
				t.Errorf("%s was accepted", path)
			}
		}
	}
	saved := s.path("history/550")
	if err := os.WriteFile(saved, turned([]byte(s.text(t, "history/550")), 30, 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := verifyHistory(s.log(), s.trust, head, s.path("history")); err == nil {
		t.Error("a changed checkpoint was accepted")
	}
}

func TestRejectsEveryChangedByteOfAProof(t *testing.T) {
	s := writeSample(t, 6, "--proofs", "2,3")
	proof, entry := s.text(t, "proofs/2"), s.text(t, "entries/2")
	for at := range proof {
		for _, mask := range []byte{1, 2, 4, 8, 16, 32, 64, 128} {
			if proofVerdict(s, string(turned([]byte(proof), at, mask)), entry) == nil {
				t.Errorf("byte %d of the proof xor %d was accepted", at, mask)
			}
		}
	}
	for at := range entry {
		if proofVerdict(s, proof, string(turned([]byte(entry), at, 1))) == nil {
			t.Errorf("byte %d of the entry was accepted", at)
		}
	}
	lines := strings.SplitAfter(proof, "\n")
	for what, row := range map[string]struct{ proof, entry string }{
		"another entry":   {proof, s.text(t, "entries/3")},
		"a longer entry":  {proof, entry + "\n"},
		"no entry":        {proof, ""},
		"another index":   {strings.Replace(proof, "index 2", "index 3", 1), entry},
		"an index beyond": {strings.Replace(proof, "index 2", "index 6", 1), entry},
		"a hash less":     {strings.Join(append(append([]string{}, lines[:2]...), lines[3:]...), ""), entry},
		"a hash more":     {strings.Join(append(append([]string{}, lines[:3]...), lines[2:]...), ""), entry},
		"no header":       {strings.Join(lines[1:], ""), entry},
		"nothing":         {"", entry},
	} {
		if proofVerdict(s, row.proof, row.entry) == nil {
			t.Errorf("%s was accepted", what)
		}
	}
}

func TestRejectsKeysThatAreNotWhatTheySay(t *testing.T) {
	s := writeSample(t, 1)
	log, witness := s.text(t, "vkey"), s.text(t, "witness-vkey")
	for _, row := range []struct{ log, witness string }{
		{witness, witness},
		{log, log},
		{"other" + log, witness},
		{log, "other" + witness},
		{log, strings.Replace(witness, "+", "+0", 1)},
		{log, witness[:len(witness)-2]},
		{log, ""},
		{"", witness},
	} {
		if _, err := newTrust(row.log, []string{row.witness}); err == nil {
			t.Errorf("%v was taken", row)
		}
	}
	for at := range witness {
		if _, err := newTrust(log, []string{string(turned([]byte(witness), at, 1))}); err == nil {
			t.Errorf("byte %d of the witness's key was taken", at)
		}
	}
}

func Example_paths() {
	for _, number := range []int64{0, 999, 1000, 1234067} {
		tile := tlog.Tile{H: tileHeight, L: 0, N: number, W: tileWidth}
		entries := tlog.Tile{H: tileHeight, L: entryLevel, N: number, W: 3}
		fmt.Println(pathOf(tile), pathOf(entries))
	}
	// Output:
	// tile/0/000 tile/entries/000.p/3
	// tile/0/999 tile/entries/999.p/3
	// tile/0/x001/000 tile/entries/x001/000.p/3
	// tile/0/x001/x234/067 tile/entries/x001/x234/067.p/3
}

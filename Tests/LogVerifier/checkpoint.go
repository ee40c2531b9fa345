// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// What a log says that it is, once its signature was found to be good (https://c2sp.org/tlog-checkpoint).
type checkpoint struct {
	origin       string
	size         int64
	root         tlog.Hash
	cosignatures []cosignature
	unknown      []string
}

func (c *checkpoint) tree() tlog.Tree { return tlog.Tree{N: c.size, Hash: c.root} }

// Whose signatures are asked for: the log's, and those of all witnesses.
type trust struct {
	log       note.Verifier
	witnesses []*witnessVerifier
}

func newTrust(vkey string, witnesses []string) (*trust, error) {
	log, err := note.NewVerifier(vkey)
	if err != nil {
		return nil, fmt.Errorf("the log's key: %w", err)
	}
	t := &trust{log: log}
	for _, text := range witnesses {
		witness, err := newWitnessVerifier(text)
		if err != nil {
			return nil, fmt.Errorf("witness %s: %w", text, err)
		}
		t.witnesses = append(t.witnesses, witness)
	}
	return t, nil
}

// Reads a checkpoint whose signatures are all good.
func (t *trust) open(text []byte) (*checkpoint, error) {
	known := []note.Verifier{t.log}
	for _, witness := range t.witnesses {
		known = append(known, witness)
	}
	signed, err := note.Open(text, note.VerifierList(known...))
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	if err := requireCanonical(text, signed); err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	head, err := parseCheckpoint(signed.Text)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	if head.origin != t.log.Name() {
		return nil, fmt.Errorf("checkpoint: it is of %q, the key is of %q", head.origin, t.log.Name())
	}
	for _, signature := range signed.UnverifiedSigs {
		head.unknown = append(head.unknown, signature.Name)
	}
	return head, t.requireAll(signed, head)
}

// note.Open asks for one good signature; here each of the keys must have made one.
func (t *trust) requireAll(signed *note.Note, head *checkpoint) error {
	found := map[uint32]note.Signature{}
	for _, signature := range signed.Sigs {
		found[signature.Hash] = signature
	}
	if _, ok := found[t.log.KeyHash()]; !ok {
		return fmt.Errorf("checkpoint: the log did not sign it")
	}
	for _, witness := range t.witnesses {
		signature, ok := found[witness.KeyHash()]
		if !ok {
			return fmt.Errorf("checkpoint: %s did not cosign it", witness.Name())
		}
		time, err := cosignatureTime(signature)
		if err != nil {
			return fmt.Errorf("checkpoint: %s: %w", witness.Name(), err)
		}
		head.cosignatures = append(head.cosignatures, cosignature{witness.Name(), time})
	}
	return nil
}

// note.Open takes base64 with stray bits in its last digit, and drops repeated signatures. Neither is what was
// published, so the note must be what its parts make up again.
func requireCanonical(text []byte, signed *note.Note) error {
	lines := map[string]bool{}
	for _, signature := range append(append([]note.Signature{}, signed.Sigs...), signed.UnverifiedSigs...) {
		raw, err := base64.StdEncoding.DecodeString(signature.Base64)
		if err != nil || base64.StdEncoding.EncodeToString(raw) != signature.Base64 {
			return fmt.Errorf("the signature of %s is not in canonical base64", signature.Name)
		}
		lines["— "+signature.Name+" "+signature.Base64] = true
	}
	rest := strings.TrimPrefix(string(text), signed.Text+"\n")
	for _, line := range strings.Split(strings.TrimSuffix(rest, "\n"), "\n") {
		if !lines[line] {
			return fmt.Errorf("a signature is there twice, or a line is none: %q", line)
		}
		delete(lines, line)
	}
	return nil
}

// The three lines: origin, size, root hash. This log writes no extension lines.
func parseCheckpoint(text string) (*checkpoint, error) {
	lines := strings.Split(text, "\n")
	if len(lines) != 4 || lines[3] != "" {
		return nil, fmt.Errorf("not three lines: %q", text)
	}
	size, err := parseDecimal(lines[1])
	if err != nil {
		return nil, fmt.Errorf("size: %w", err)
	}
	root, err := parseHash(lines[2])
	if err != nil {
		return nil, fmt.Errorf("root hash: %w", err)
	}
	if lines[0] == "" || size == 0 {
		return nil, fmt.Errorf("a log that has no name, or no entry yet: %q", text)
	}
	return &checkpoint{origin: lines[0], size: size, root: root}, nil
}

// A number as it must be written: no sign, no leading zero.
func parseDecimal(text string) (int64, error) {
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || number < 0 || strconv.FormatInt(number, 10) != text {
		return 0, fmt.Errorf("not a decimal number: %q", text)
	}
	return number, nil
}

// A hash in canonical base64.
func parseHash(text string) (tlog.Hash, error) {
	hash, err := tlog.ParseHash(text)
	if err != nil || hash.String() != text {
		return tlog.Hash{}, fmt.Errorf("not a SHA-256 hash in base64: %q", text)
	}
	return hash, nil
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// A proof that an entry is in a log, as in https://c2sp.org/tlog-proof.
type entryProof struct {
	index      int64
	hashes     tlog.RecordProof
	checkpoint []byte
}

// No path in a tree of 2^63 entries is longer.
const longestProof = 63

func parseProof(text []byte) (*entryProof, error) {
	split := bytes.Index(text, []byte("\n\n"))
	if split < 0 {
		return nil, fmt.Errorf("proof: no blank line before the checkpoint")
	}
	lines := strings.Split(string(text[:split]), "\n")
	if len(lines) < 2 || lines[0] != "c2sp.org/tlog-proof@v1" {
		return nil, fmt.Errorf("proof: not a tlog-proof@v1")
	}
	lines = lines[1:]
	// The "extra" line of the format is for others: this log writes none.
	if !strings.HasPrefix(lines[0], "index ") {
		return nil, fmt.Errorf("proof: no index: %q", lines[0])
	}
	index, err := parseDecimal(strings.TrimPrefix(lines[0], "index "))
	if err != nil {
		return nil, fmt.Errorf("proof: index: %w", err)
	}
	proof := &entryProof{index: index, checkpoint: text[split+2:]}
	for _, line := range lines[1:] {
		hash, err := parseHash(line)
		if err != nil {
			return nil, fmt.Errorf("proof: %w", err)
		}
		proof.hashes = append(proof.hashes, hash)
	}
	if len(proof.hashes) > longestProof {
		return nil, fmt.Errorf("proof: %d hashes", len(proof.hashes))
	}
	return proof, nil
}

func (p *entryProof) verify(trust *trust, entry []byte) (*checkpoint, error) {
	head, err := trust.open(p.checkpoint)
	if err != nil {
		return nil, err
	}
	if p.index >= head.size {
		return nil, fmt.Errorf("proof: entry %d of a log of %d", p.index, head.size)
	}
	if err := tlog.CheckRecord(p.hashes, head.size, head.root, p.index, tlog.RecordHash(entry)); err != nil {
		return nil, fmt.Errorf("proof: entry %d: %w", p.index, err)
	}
	return head, nil
}

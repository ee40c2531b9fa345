// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

const (
	tileHeight = 8
	tileWidth  = 1 << tileHeight
	entryLevel = -1
)

// Where a tile is: tlog's paths name the height, those of tlog-tiles don't, and call the entries otherwise.
func pathOf(tile tlog.Tile) string {
	path := strings.TrimPrefix(tile.Path(), fmt.Sprintf("tile/%d/", tileHeight))
	if tile.L == entryLevel {
		path = "entries" + strings.TrimPrefix(path, "data")
	}
	return "tile/" + path
}

// A level of the tree while its tiles are compared with what lies below them.
type level struct {
	number int
	tile   int64
	hashes []byte
}

// Computes every tile from the entries again, and compares.
type treeCheck struct {
	source source
	levels []*level
}

// Verifies a whole log against its newest checkpoint.
func verifyLog(source source, trust *trust, each func(entry []byte) error) (*checkpoint, error) {
	text, err := source.read("checkpoint")
	if err != nil {
		return nil, err
	}
	head, err := trust.open(text)
	if err != nil {
		return nil, err
	}
	check := &treeCheck{source: source}
	for first := int64(0); first < head.size; first += tileWidth {
		if err := check.addBundle(first, width(head.size-first), each); err != nil {
			return nil, err
		}
	}
	root, err := check.finish()
	if err != nil {
		return nil, err
	}
	if root != head.root {
		return nil, fmt.Errorf("the entries have root %s, the checkpoint says %s", root, head.root)
	}
	// The same once more, by code that is not of this program.
	root, err = tlog.TreeHash(head.size, newTileReader(source).hashes(head))
	if err != nil || root != head.root {
		return nil, fmt.Errorf("the tiles have root %s, the checkpoint says %s: %v", root, head.root, err)
	}
	return head, nil
}

func width(left int64) int {
	if left > tileWidth {
		return tileWidth
	}
	return int(left)
}

func (c *treeCheck) addBundle(first int64, count int, each func(entry []byte) error) error {
	tile := tlog.Tile{H: tileHeight, L: entryLevel, N: first / tileWidth, W: count}
	bundle, err := c.source.read(pathOf(tile))
	if err != nil {
		return err
	}
	entries, err := splitBundle(bundle, count)
	if err != nil {
		return fmt.Errorf("%s: %w", pathOf(tile), err)
	}
	for _, entry := range entries {
		if err := c.add(0, tlog.RecordHash(entry)); err != nil {
			return err
		}
		if err := each(entry); err != nil {
			return err
		}
	}
	return nil
}

// Takes a bundle apart: a length of two bytes, big-endian, before each entry, and nothing after the last.
func splitBundle(bundle []byte, count int) ([][]byte, error) {
	var entries [][]byte
	for len(bundle) >= 2 && len(entries) < count {
		length := 2 + int(binary.BigEndian.Uint16(bundle))
		if length > len(bundle) {
			return nil, fmt.Errorf("entry %d ends too early", len(entries))
		}
		entries = append(entries, bundle[2:length])
		bundle = bundle[length:]
	}
	if len(entries) != count || len(bundle) != 0 {
		return nil, fmt.Errorf("%d entries and %d further bytes, %d entries were expected",
			len(entries), len(bundle), count)
	}
	return entries, nil
}

// Adds a hash at the right end of a level; a tile that is full is compared, and its own hash is added one level up.
func (c *treeCheck) add(number int, hash tlog.Hash) error {
	if number == len(c.levels) {
		c.levels = append(c.levels, &level{number: number})
	}
	l := c.levels[number]
	l.hashes = append(l.hashes, hash[:]...)
	if len(l.hashes) < tileWidth*tlog.HashSize {
		return nil
	}
	if err := c.compare(l); err != nil {
		return err
	}
	above := l.roots()
	l.tile++
	l.hashes = l.hashes[:0]
	return c.add(number+1, above[0])
}

func (c *treeCheck) compare(l *level) error {
	tile := tlog.Tile{H: tileHeight, L: l.number, N: l.tile, W: len(l.hashes) / tlog.HashSize}
	stored, err := c.source.read(pathOf(tile))
	if err != nil {
		return err
	}
	if !bytes.Equal(stored, l.hashes) {
		return fmt.Errorf("%s is not what the entries below it make up", pathOf(tile))
	}
	return nil
}

// The roots of the perfect trees in a tile, the largest and leftmost first.
func (l *level) roots() []tlog.Hash {
	var row []tlog.Hash
	for offset := 0; offset < len(l.hashes); offset += tlog.HashSize {
		var hash tlog.Hash
		copy(hash[:], l.hashes[offset:])
		row = append(row, hash)
	}
	var roots []tlog.Hash
	for len(row) > 0 {
		if len(row)%2 == 1 {
			roots = append([]tlog.Hash{row[len(row)-1]}, roots...)
			row = row[:len(row)-1]
		}
		for i := 0; i < len(row)/2; i++ {
			row[i] = tlog.NodeHash(row[2*i], row[2*i+1])
		}
		row = row[:len(row)/2]
	}
	return roots
}

// Compares the tiles that are not full, and gives the root of the tree.
func (c *treeCheck) finish() (tlog.Hash, error) {
	var root *tlog.Hash
	for _, l := range c.levels {
		if len(l.hashes) == 0 {
			continue
		}
		if err := c.compare(l); err != nil {
			return tlog.Hash{}, err
		}
		roots := l.roots()
		for i := len(roots) - 1; i >= 0; i-- {
			hash := roots[i]
			if root != nil {
				hash = tlog.NodeHash(hash, *root)
			}
			root = &hash
		}
	}
	if root == nil {
		return tlog.Hash{}, fmt.Errorf("no entries")
	}
	return *root, nil
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"

	"golang.org/x/mod/sumdb/tlog"
)

// Reads tiles for tlog, which checks each of them against the root hash before it uses it.
type tileReader struct {
	source source
	saved  map[tlog.Tile][]byte
}

func newTileReader(source source) *tileReader {
	return &tileReader{source, map[tlog.Tile][]byte{}}
}

func (r *tileReader) hashes(head *checkpoint) tlog.HashReader {
	return tlog.TileHashReader(head.tree(), r)
}

func (r *tileReader) Height() int { return tileHeight }

func (r *tileReader) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var read [][]byte
	for _, tile := range tiles {
		data, ok := r.saved[tile]
		if !ok {
			var err error
			if data, err = r.source.read(pathOf(tile)); err != nil {
				return nil, err
			}
		}
		read = append(read, data)
	}
	return read, nil
}

// SaveTiles keeps what tlog has found to be good.
func (r *tileReader) SaveTiles(tiles []tlog.Tile, data [][]byte) {
	for i, tile := range tiles {
		r.saved[tile] = data[i]
	}
}

// Verifies that the log grew from each of the checkpoints in a folder, and these from one another.
func verifyHistory(source source, trust *trust, head *checkpoint, folder string) (int, error) {
	history, err := readHistory(trust, folder)
	if err != nil {
		return 0, err
	}
	reader := newTileReader(source)
	hashes := reader.hashes(head)
	previous := &checkpoint{}
	for _, c := range append(history, *head) {
		c := c
		if c.size > head.size {
			return 0, fmt.Errorf("the log had %d entries once, and has %d now", c.size, head.size)
		}
		if err := grew(&c, head, hashes); err != nil {
			return 0, err
		}
		if previous.size > 0 {
			if err := grew(previous, &c, hashes); err != nil {
				return 0, err
			}
		}
		if err := servesTiles(source, reader, &c, head); err != nil {
			return 0, err
		}
		previous = &c
	}
	return len(history), nil
}

// The checkpoints of a folder, smallest first. Cosignatures come later than a checkpoint, so none is asked for.
func readHistory(t *trust, folder string) ([]checkpoint, error) {
	names, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		return nil, err
	}
	var history []checkpoint
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		c, err := (&trust{log: t.log}).open(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		history = append(history, *c)
	}
	if len(history) == 0 {
		return nil, fmt.Errorf("%s: no checkpoints", folder)
	}
	sort.SliceStable(history, func(i, j int) bool { return history[i].size < history[j].size })
	return history, nil
}

// Verifies that the log at one checkpoint begins with the log at an older one.
func grew(old, new *checkpoint, hashes tlog.HashReader) error {
	if old.size == new.size && old.root != new.root {
		return fmt.Errorf("two logs of %d entries: root %s and root %s", old.size, old.root, new.root)
	}
	proof, err := tlog.ProveTree(new.size, old.size, hashes)
	if err == nil {
		err = tlog.CheckTree(proof, new.size, new.root, old.size, old.root)
	}
	if err != nil {
		return fmt.Errorf("the log of %d entries does not begin with that of %d: %w", new.size, old.size, err)
	}
	return nil
}

// Whoever holds an older checkpoint may ask for the partial tiles of that size.
func servesTiles(source source, reader *tileReader, old, head *checkpoint) error {
	entries := tlog.Tile{H: tileHeight, L: entryLevel, N: old.size / tileWidth, W: int(old.size % tileWidth)}
	if err := servesTile(source, reader, entries, head.size); err != nil {
		return err
	}
	now := head.size
	for number, size := 0, old.size; size > 0; number, size = number+1, size/tileWidth {
		tile := tlog.Tile{H: tileHeight, L: number, N: size / tileWidth, W: int(size % tileWidth)}
		if err := servesTile(source, reader, tile, now); err != nil {
			return err
		}
		now /= tileWidth
	}
	return nil
}

// A partial tile must be the beginning of today's, and may be gone only once that is full; a folder has those of one
// checkpoint alone. `count` is how many hashes, or entries, today's level has.
func servesTile(source source, reader *tileReader, partial tlog.Tile, count int64) error {
	if partial.W == 0 {
		return nil
	}
	now := partial
	now.W = width(count - partial.N*tileWidth)
	stored, err := source.read(pathOf(partial))
	_, isFolder := source.(folderSource)
	if errors.Is(err, fs.ErrNotExist) && (isFolder || now.W == tileWidth) {
		return nil
	}
	if err != nil {
		return err
	}
	whole, err := reader.ReadTiles([]tlog.Tile{now})
	if err != nil {
		return err
	}
	if partial.L == entryLevel {
		_, err = splitBundle(stored, partial.W)
	} else if len(stored) != partial.W*tlog.HashSize {
		err = fmt.Errorf("%d bytes", len(stored))
	}
	if err != nil || !bytes.HasPrefix(whole[0], stored) {
		return fmt.Errorf("%s is not the beginning of %s", pathOf(partial), pathOf(now))
	}
	return nil
}

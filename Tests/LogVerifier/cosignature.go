// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// The type of a witness's key (https://c2sp.org/tlog-cosignature); a log's own has type 1.
const cosignatureType = 0x04

// That a witness saw a checkpoint grow from those before, and when, in seconds since 1970.
type cosignature struct {
	name string
	time uint64
}

// A witness's key. note.NewVerifier does not know this type of key.
type witnessVerifier struct {
	name string
	hash uint32
	key  ed25519.PublicKey
}

func newWitnessVerifier(vkey string) (*witnessVerifier, error) {
	parts := strings.SplitN(vkey, "+", 3)
	if len(parts) != 3 || parts[0] == "" || strings.ContainsAny(parts[0], " \n") {
		return nil, errors.New("not NAME+HASH+BASE64")
	}
	key, err := base64.StdEncoding.Strict().DecodeString(parts[2])
	if err != nil || len(key) != 1+ed25519.PublicKeySize || key[0] != cosignatureType {
		return nil, errors.New("not an Ed25519 key that cosigns")
	}
	digest := sha256.Sum256(append([]byte(parts[0]+"\n"), key...))
	hash := binary.BigEndian.Uint32(digest[:4])
	if parts[1] != fmt.Sprintf("%08x", hash) {
		return nil, errors.New("the hash is not that of the key")
	}
	return &witnessVerifier{parts[0], hash, key[1:]}, nil
}

func (v *witnessVerifier) Name() string { return v.name }

func (v *witnessVerifier) KeyHash() uint32 { return v.hash }

// Verify tells whether the witness signed the text of a checkpoint together with the time that is in the signature.
func (v *witnessVerifier) Verify(text, signature []byte) bool {
	if len(signature) != 8+ed25519.SignatureSize {
		return false
	}
	time := binary.BigEndian.Uint64(signature[:8])
	message := "cosignature/v1\ntime " + strconv.FormatUint(time, 10) + "\n" + string(text)
	return ed25519.Verify(v.key, []byte(message), signature[8:])
}

// The time in a cosignature that was found to be good.
func cosignatureTime(signature note.Signature) (uint64, error) {
	raw, err := base64.StdEncoding.DecodeString(signature.Base64)
	if err != nil || len(raw) < 12 {
		return 0, errors.New("too short for a cosignature")
	}
	return binary.BigEndian.Uint64(raw[4:12]), nil
}

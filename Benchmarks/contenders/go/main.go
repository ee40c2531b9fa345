// SPDX-License-Identifier: Apache-2.0

// The signature of a promotional offer ("V1") with Go's standard library: what one would write first.
// Usage: signer PORT KEY_FILE API_KEY_FILE
package main

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

const keyID = "ABC123DEFG"

type request struct {
	BundleID        string `json:"bundleId"`
	ProductID       string `json:"productId"`
	OfferID         string `json:"offerId"`
	AppAccountToken string `json:"appAccountToken"`
}

type answer struct {
	Identifier      string `json:"identifier"`
	KeyIdentifier   string `json:"keyIdentifier"`
	Nonce           string `json:"nonce"`
	Timestamp       int64  `json:"timestamp"`
	Signature       []byte `json:"signature"`
	AppAccountToken string `json:"appAccountToken"`
}

type signer struct {
	key           *ecdsa.PrivateKey
	authorization []byte
}

func (s *signer) sign(r request) (answer, error) {
	nonce, err := uuid()
	if err != nil {
		return answer{}, err
	}
	now := time.Now().UnixMilli()
	token := strings.ToLower(r.AppAccountToken)
	fields := []string{r.BundleID, keyID, r.ProductID, r.OfferID, token, nonce, strconv.FormatInt(now, 10)}
	digest := sha256.Sum256([]byte(strings.Join(fields, "\u2063")))
	signature, err := ecdsa.SignASN1(rand.Reader, s.key, digest[:])
	return answer{r.OfferID, keyID, nonce, now, signature, token}, err
}

func (s *signer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), s.authorization) != 1 {
		http.Error(w, "unauthorized", http.StatusUnauthorized)
		return
	}
	var body request
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	result, err := s.sign(body)
	if err != nil {
		http.Error(w, "internal server error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(result)
}

// uuid makes a random UUID (RFC 9562, version 4).
func uuid() (string, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
}

func readKey(path string) (*ecdsa.PrivateKey, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New(path + " is not PEM")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New(path + " holds no elliptic-curve key")
	}
	return key, nil
}

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: signer PORT KEY_FILE API_KEY_FILE")
	}
	key, err := readKey(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	apiKey, err := os.ReadFile(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	authorization := "Bearer " + strings.TrimSpace(string(apiKey))
	mux := http.NewServeMux()
	mux.Handle("/v1/app-store/promotional-offers/signatures", &signer{key, []byte(authorization)})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], mux))
}

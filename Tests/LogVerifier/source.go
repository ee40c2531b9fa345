// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A log's files by their paths, as in "checkpoint" or "tile/0/x001/234".
type source interface {
	// Gives a file's bytes, or an error that is fs.ErrNotExist if there is none.
	read(path string) ([]byte, error)
}

// No file of a log is longer: 256 entries with 65,535 bytes and their lengths.
const longestFile = 256 * (2 + 65535)

func openSource(target, apiKeyFile string) (source, error) {
	if !strings.HasPrefix(target, "http://") && !strings.HasPrefix(target, "https://") {
		return folderSource(target), nil
	}
	var apiKey string
	if apiKeyFile != "" {
		text, err := os.ReadFile(apiKeyFile)
		if err != nil {
			return nil, err
		}
		apiKey = strings.TrimSpace(string(text))
	}
	client := &http.Client{
		Timeout: time.Minute,
		// An API key is for the address that was given and no other.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &httpSource{client, strings.TrimSuffix(target, "/") + "/", apiKey}, nil
}

type folderSource string

func (s folderSource) read(path string) ([]byte, error) {
	return os.ReadFile(filepath.Join(string(s), filepath.FromSlash(path)))
}

type httpSource struct {
	client *http.Client
	prefix string
	apiKey string
}

func (s *httpSource) read(path string) ([]byte, error) {
	request, err := http.NewRequest(http.MethodGet, s.prefix+path, nil)
	if err != nil {
		return nil, err
	}
	if s.apiKey != "" {
		request.Header.Set("Authorization", "Bearer "+s.apiKey)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, longestFile+1))
	switch {
	case err != nil:
		return nil, err
	case response.StatusCode == http.StatusNotFound:
		return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s: %s", path, response.Status)
	case len(body) > longestFile:
		return nil, fmt.Errorf("%s: too long", path)
	}
	return body, nil
}

// Where verified entries go, one a line; nowhere without a path.
type sink struct {
	file   *os.File
	writer *bufio.Writer
}

func openSink(path string) (*sink, error) {
	if path == "" {
		return &sink{}, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, writeError{err}
	}
	return &sink{file, bufio.NewWriter(file)}, nil
}

func (s *sink) add(entry []byte) error {
	if s.file == nil {
		return nil
	}
	_, err := s.writer.Write(entry)
	if err == nil {
		err = s.writer.WriteByte('\n')
	}
	if err != nil {
		return writeError{err}
	}
	return nil
}

func (s *sink) close() error {
	if s.file == nil {
		return nil
	}
	err := s.writer.Flush()
	if closing := s.file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return writeError{err}
	}
	return nil
}

// Removes what was written: entries of a log that is not good must not pass for verified ones.
func (s *sink) discard() {
	if s.file != nil {
		s.file.Close()
		os.Remove(s.file.Name())
	}
}

// SPDX-License-Identifier: Apache-2.0

// Command logverifier checks an audit log in the tlog-tiles format (https://c2sp.org/tlog-tiles), and shares no code
// with the service that writes it: signatures of notes and Merkle hashes are golang.org/x/mod's.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

const usage = `Usage:
  logverifier log --vkey VKEY [--witness VKEY]... [options] URL|FOLDER
      Verifies a whole log: the checkpoint, every tile, every entry, the root hash.
      --api-key FILE       a file that holds the API key, for a URL that asks for one
      --history FOLDER     checkpoints saved earlier: each must be one that this log grew from
      --entries FILE       write each entry that was verified, one a line
  logverifier proof --vkey VKEY [--witness VKEY]... --entry FILE PROOF
      Verifies that a proof (tlog-proof@v1) shows the entry in a file to be in the log.
  logverifier checkpoint --vkey VKEY [--witness VKEY]... FILE
      Verifies the signatures of one checkpoint.

A key is written NAME+HASH+BASE64. Each witness named must have cosigned. "-" is standard input.
Exit code: 0 verified, 1 not verified, 2 wrong usage, 3 a file can't be written.
`

// What the arguments say.
type arguments struct {
	command string
	vkey    string
	witness stringList
	apiKey  string
	history string
	entries string
	entry   string
	target  string
}

// A flag that may be given several times.
type stringList []string

func (l *stringList) String() string { return strings.Join(*l, " ") }

func (l *stringList) Set(value string) error {
	*l = append(*l, value)
	return nil
}

// An output that can't be written says nothing about the log.
type writeError struct{ error }

func parse(words []string, output io.Writer) (arguments, error) {
	var a arguments
	if len(words) == 0 {
		return a, errors.New("no command")
	}
	a.command = words[0]
	flags := flag.NewFlagSet(a.command, flag.ContinueOnError)
	flags.SetOutput(output)
	flags.Usage = func() {}
	flags.StringVar(&a.vkey, "vkey", "", "")
	flags.Var(&a.witness, "witness", "")
	switch a.command {
	case "log":
		flags.StringVar(&a.apiKey, "api-key", "", "")
		flags.StringVar(&a.history, "history", "", "")
		flags.StringVar(&a.entries, "entries", "", "")
	case "proof":
		flags.StringVar(&a.entry, "entry", "", "")
	case "checkpoint":
	default:
		return a, fmt.Errorf("unknown command %q", a.command)
	}
	if err := flags.Parse(words[1:]); err != nil {
		return a, err
	}
	if flags.NArg() != 1 || a.vkey == "" || a.command == "proof" && a.entry == "" {
		return a, errors.New("arguments are missing, or too many")
	}
	a.target = flags.Arg(0)
	return a, nil
}

func run(a arguments, output io.Writer) error {
	trust, err := newTrust(a.vkey, a.witness)
	if err != nil {
		return err
	}
	switch a.command {
	case "proof":
		return runProof(a, trust, output)
	case "checkpoint":
		return runCheckpoint(a, trust, output)
	default:
		return runLog(a, trust, output)
	}
}

func runLog(a arguments, trust *trust, output io.Writer) error {
	source, err := openSource(a.target, a.apiKey)
	if err != nil {
		return err
	}
	sink, err := openSink(a.entries)
	if err != nil {
		return err
	}
	head, err := verifyLog(source, trust, sink.add)
	if err != nil {
		sink.discard()
		return err
	}
	if err := sink.close(); err != nil {
		return err
	}
	fmt.Fprintf(output, "verified %d entries of %s, root %s\n", head.size, head.origin, head.root)
	describe(head, output)
	if a.history == "" {
		return nil
	}
	count, err := verifyHistory(source, trust, head, a.history)
	if err == nil {
		fmt.Fprintf(output, "consistent with %d earlier checkpoints\n", count)
	}
	return err
}

func runCheckpoint(a arguments, trust *trust, output io.Writer) error {
	text, err := readFile(a.target)
	if err != nil {
		return err
	}
	head, err := trust.open(text)
	if err != nil {
		return err
	}
	fmt.Fprintf(output, "verified checkpoint of %s, size %d, root %s\n", head.origin, head.size, head.root)
	describe(head, output)
	return nil
}

func runProof(a arguments, trust *trust, output io.Writer) error {
	entry, err := readFile(a.entry)
	if err != nil {
		return err
	}
	text, err := readFile(a.target)
	if err != nil {
		return err
	}
	proof, err := parseProof(text)
	if err != nil {
		return err
	}
	head, err := proof.verify(trust, entry)
	if err != nil {
		return err
	}
	fmt.Fprintf(output, "verified entry %d of %s, size %d\n", proof.index, head.origin, head.size)
	describe(head, output)
	return nil
}

// Prints who cosigned, and which lines are by unknown keys.
func describe(head *checkpoint, output io.Writer) {
	for _, cosignature := range head.cosignatures {
		fmt.Fprintf(output, "cosigned by %s at %d\n", cosignature.name, cosignature.time)
	}
	for _, name := range head.unknown {
		fmt.Fprintf(output, "also signed by %s, whose key was not given\n", name)
	}
}

func readFile(path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(path)
}

func main() {
	a, err := parse(os.Args[1:], io.Discard)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, usage)
		os.Exit(2)
	}
	err = run(a, os.Stdout)
	var unwritable writeError
	switch {
	case errors.As(err, &unwritable):
		fmt.Fprintf(os.Stderr, "%v\n", err)
		os.Exit(3)
	case err != nil:
		fmt.Fprintf(os.Stderr, "NOT VERIFIED: %v\n", err)
		os.Exit(1)
	}
}

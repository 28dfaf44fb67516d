// Reads, from standard input, calls and what mockdriver logged of them with
// --log-format kubernetes-e2e, and finds out whether programs written in Go read them right.
//
// Each line of the input is an object: the logged line, and the method, messages and status of the
// call that it is about. For each the program checks that
//
//   - it is, byte for byte, what encoding/json makes of the call;
//   - Kubernetes' e2e suite, which reads a few of its fields, finds these;
//   - encoding/json reads it back into the CSI types, and the messages equal those of the call.
//
// It prints a line for each call that fails, and the number of those that do not.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// call is a line of the input.
type call struct {
	Line     string
	Method   string
	Request  []byte
	Response []byte
	Code     uint32
	Message  string
}

func main() {
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 64<<20)
	right, wrong := 0, 0
	for input.Scan() {
		var one call
		err := json.Unmarshal(input.Bytes(), &one)
		if err == nil {
			err = check(&one)
		}
		if err == nil {
			right++
			continue
		}
		wrong++
		fmt.Printf("%s: %v\n", one.Method, err)
	}
	fmt.Printf("%d lines are right\n", right)
	if wrong > 0 || input.Err() != nil {
		os.Exit(1)
	}
}

func check(one *call) error {
	messages, err := messagesOf(one)
	if err != nil {
		return err
	}
	return errors.Join(
		inContext("as it would be written", compareWritten(one, messages)),
		inContext("as the suite reads it", compareRead(one, messages)),
		inContext("as CSI types", compareDecoded(one, messages)),
	)
}

func inContext(context string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", context, err)
}

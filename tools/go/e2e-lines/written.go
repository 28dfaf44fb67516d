package main

import (
	"encoding/json"
	"fmt"
	"strings"

	statuspb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const prefix = "gRPCCall: "

// compareWritten compares the line with what a server written in Go would log, byte for byte.
func compareWritten(one *call, sent messages) error {
	fields := struct {
		Method    string
		Request   any
		Response  any
		Error     string
		FullError *statuspb.Status
	}{Method: one.Method, Request: sent.request, Response: sent.response}
	if one.Code != 0 {
		answer := status.New(codes.Code(one.Code), one.Message)
		fields.Error, fields.FullError = answer.Err().Error(), answer.Proto()
	}
	expected, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	if found, ok := strings.CutPrefix(one.Line, prefix); !ok || found != string(expected) {
		return fmt.Errorf("\n  logged   %s\n  expected %s%s", one.Line, prefix, expected)
	}
	return nil
}

// compareRead reads the fields that Kubernetes' suite reads, in its way: from the first place
// where the prefix stands, without its space.
func compareRead(one *call, sent messages) error {
	_, object, ok := strings.Cut(one.Line, strings.TrimSpace(prefix))
	if !ok {
		return fmt.Errorf("there is no %q in %q", prefix, one.Line)
	}
	var read struct {
		Method  string
		Request struct {
			VolumeContext map[string]string `json:"volume_context"`
			Secrets       map[string]string `json:"secrets"`
		}
		FullError struct {
			Code    codes.Code `json:"code"`
			Message string     `json:"message"`
		}
		Error string
	}
	if err := json.Unmarshal([]byte(object), &read); err != nil {
		return err
	}
	if read.Method != one.Method || read.FullError.Code != codes.Code(one.Code) ||
		read.FullError.Message != one.Message || (read.Error == "") != (one.Code == 0) {
		return fmt.Errorf("read %+v", read)
	}
	context, secrets := map[string]string(nil), map[string]string(nil)
	if has, ok := sent.request.(interface{ GetVolumeContext() map[string]string }); ok {
		context = has.GetVolumeContext()
	}
	if has, ok := sent.request.(interface{ GetSecrets() map[string]string }); ok {
		secrets = has.GetSecrets()
	}
	if !same(context, read.Request.VolumeContext) || !same(secrets, read.Request.Secrets) {
		return fmt.Errorf("read %+v, sent %v and %v", read.Request, context, secrets)
	}
	return nil
}

func same(sent, read map[string]string) bool {
	if len(sent) != len(read) {
		return false
	}
	for key, value := range sent {
		if found, ok := read[key]; !ok || found != value {
			return false
		}
	}
	return true
}

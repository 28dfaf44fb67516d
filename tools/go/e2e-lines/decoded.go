package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"
)

// wrappers are what a oneof of CSI can hold, by the interface that stands for the oneof in Go.
// encoding/json cannot know them; all else it reads by itself.
var wrappers = map[string][]any{
	"isPluginCapability_Type": {
		&csi.PluginCapability_Service_{}, &csi.PluginCapability_VolumeExpansion_{},
	},
	"isVolumeContentSource_Type": {
		&csi.VolumeContentSource_Snapshot{}, &csi.VolumeContentSource_Volume{},
	},
	"isVolumeCapability_AccessType": {
		&csi.VolumeCapability_Block{}, &csi.VolumeCapability_Mount{},
	},
	"isControllerServiceCapability_Type":      {&csi.ControllerServiceCapability_Rpc{}},
	"isNodeServiceCapability_Type":            {&csi.NodeServiceCapability_Rpc{}},
	"isGroupControllerServiceCapability_Type": {&csi.GroupControllerServiceCapability_Rpc{}},
}

// compareDecoded reads the messages back from the line and compares them with those of the call.
func compareDecoded(one *call, sent messages) error {
	var read struct {
		Request, Response json.RawMessage
	}
	if err := json.Unmarshal([]byte(strings.TrimPrefix(one.Line, prefix)), &read); err != nil {
		return err
	}
	request, response, err := newMessages(one.Method)
	if err != nil {
		return err
	}
	if err := compareOne(read.Request, request, sent.request); err != nil {
		return fmt.Errorf("request: %w", err)
	}
	if one.Code != 0 {
		if string(read.Response) != "null" {
			return fmt.Errorf("a failed call has the response %s", read.Response)
		}
		return nil
	}
	if err := compareOne(read.Response, response, sent.response); err != nil {
		return fmt.Errorf("response: %w", err)
	}
	return nil
}

func compareOne(data json.RawMessage, empty, sent any) error {
	if err := decode(data, reflect.ValueOf(empty)); err != nil {
		return err
	}
	if message, ok := empty.(proto.Message); ok {
		if !proto.Equal(message, sent.(proto.Message)) {
			return fmt.Errorf("read %v, sent %v", empty, sent)
		}
		return nil
	}
	read, _ := json.Marshal(empty)
	expected, _ := json.Marshal(sent)
	if !bytes.Equal(read, expected) {
		return fmt.Errorf("read %s, sent %s", read, expected)
	}
	return nil
}

// decode reads JSON into what `into` points at, as encoding/json does, oneofs included. A field
// that the type does not have is an error.
func decode(data json.RawMessage, into reflect.Value) error {
	target := into.Elem()
	switch {
	case target.Kind() == reflect.Pointer && target.Type().Elem().Kind() == reflect.Struct:
		if string(data) == "null" {
			return nil
		}
		target.Set(reflect.New(target.Type().Elem()))
		return decode(data, target)
	case target.Kind() == reflect.Slice && target.Type().Elem().Kind() == reflect.Pointer:
		return decodeList(data, target)
	case target.Kind() == reflect.Struct:
		return decodeStruct(data, target)
	case target.Kind() == reflect.Interface:
		return decodeOneof(data, target)
	}
	return json.Unmarshal(data, into.Interface())
}

func decodeList(data json.RawMessage, target reflect.Value) error {
	var elements []json.RawMessage
	if err := json.Unmarshal(data, &elements); err != nil {
		return err
	}
	target.Set(reflect.MakeSlice(target.Type(), len(elements), len(elements)))
	for place, element := range elements {
		if err := decode(element, target.Index(place).Addr()); err != nil {
			return fmt.Errorf("[%d]: %w", place, err)
		}
	}
	return nil
}

func decodeStruct(data json.RawMessage, target reflect.Value) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	for place := range target.NumField() {
		name := nameOf(target.Type().Field(place))
		value, ok := fields[name]
		if !ok || name == "" {
			continue
		}
		delete(fields, name)
		if err := decode(value, target.Field(place).Addr()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for name := range fields {
		return fmt.Errorf("%s has no field %q", target.Type(), name)
	}
	return nil
}

// nameOf returns the name that encoding/json has for a field, or "" if it leaves the field alone.
func nameOf(field reflect.StructField) string {
	if !field.IsExported() {
		return ""
	}
	if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
		return name
	}
	return field.Name
}

func decodeOneof(data json.RawMessage, target reflect.Value) error {
	if string(data) == "null" {
		return nil
	}
	var chosen map[string]json.RawMessage
	if err := json.Unmarshal(data, &chosen); err != nil {
		return err
	}
	for _, wrapper := range wrappers[target.Type().Name()] {
		kind := reflect.TypeOf(wrapper).Elem()
		if _, ok := chosen[kind.Field(0).Name]; !ok || len(chosen) != 1 {
			continue
		}
		found := reflect.New(kind)
		target.Set(found)
		return decodeStruct(data, found.Elem())
	}
	return fmt.Errorf("%s cannot hold %s", target.Type(), data)
}

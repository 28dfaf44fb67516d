package main

import (
	"fmt"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

const (
	stripped = "***stripped***"
	// A key of volume_context whose value is secret although its field is not.
	tokens = "csi.storage.k8s.io/serviceAccount.tokens"
)

// messages are what was sent and answered, without secrets. response is nil if the call failed.
type messages struct {
	request, response any
}

func messagesOf(one *call) (messages, error) {
	request, response, err := newMessages(one.Method)
	if err != nil {
		return messages{}, err
	}
	found := messages{}
	if found.request, err = parsed(request, one.Request); err != nil || one.Code != 0 {
		return found, err
	}
	found.response, err = parsed(response, one.Response)
	return found, err
}

// newMessages returns empty messages of a method like "/csi.v1.Node/NodeGetInfo".
func newMessages(method string) (any, any, error) {
	if empty, ok := kepMessages[method]; ok {
		request, response := empty()
		return request, response, nil
	}
	service, name, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service))
	if err != nil {
		return nil, nil, fmt.Errorf("service %q: %w", service, err)
	}
	rpc := found.(protoreflect.ServiceDescriptor).Methods().ByName(protoreflect.Name(name))
	if rpc == nil {
		return nil, nil, fmt.Errorf("service %s has no %q", service, name)
	}
	return newMessage(rpc.Input()), newMessage(rpc.Output()), nil
}

func newMessage(kind protoreflect.MessageDescriptor) proto.Message {
	found, err := protoregistry.GlobalTypes.FindMessageByName(kind.FullName())
	if err != nil {
		panic(err) // the registry knows the method, but not its message
	}
	return found.New().Interface()
}

func parsed(empty any, body []byte) (any, error) {
	if own, ok := empty.(kepMessage); ok {
		return own, parseKep(own, body)
	}
	message := empty.(proto.Message)
	if err := proto.Unmarshal(body, message); err != nil {
		return nil, err
	}
	if unknown := message.ProtoReflect().GetUnknown(); len(unknown) > 0 {
		return nil, fmt.Errorf("%T has fields that this release of CSI does not know", message)
	}
	strip(message.ProtoReflect())
	return message, nil
}

// strip replaces what no log may show.
func strip(message protoreflect.Message) {
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.IsMap():
			stripMap(field, value.Map())
		case field.IsList() && field.Message() != nil:
			for place := range value.List().Len() {
				strip(value.List().Get(place).Message())
			}
		case field.Message() != nil:
			strip(value.Message())
		}
		return true
	})
}

func stripMap(field protoreflect.FieldDescriptor, entries protoreflect.Map) {
	options := field.Options().(*descriptorpb.FieldOptions)
	secret := proto.GetExtension(options, csi.E_CsiSecret).(bool)
	entries.Range(func(key protoreflect.MapKey, _ protoreflect.Value) bool {
		if secret || key.String() == tokens {
			entries.Set(key, protoreflect.ValueOfString(stripped))
		}
		return true
	})
}

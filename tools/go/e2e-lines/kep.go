package main

import (
	"errors"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// What KEP-6011 adds, which no release of CSI has yet, as protoc-gen-go will make it.

type controllerGetNodeInfoRequest struct {
	NodeId string `json:"node_id,omitempty"`
}

type controllerGetNodeInfoResponse struct {
	MaxVolumesPerNode  int64         `json:"max_volumes_per_node,omitempty"`
	AccessibleTopology *csi.Topology `json:"accessible_topology,omitempty"`
	PublishedVolumeIds []string      `json:"published_volume_ids,omitempty"`
}

type nodeGetInfoRequest struct {
	ControllerGetNodeInfo bool `json:"controller_get_node_info,omitempty"`
}

// kepMessage is one of them. field takes the value of one field off the front of the body.
type kepMessage interface {
	field(number protowire.Number, body []byte) (length int, err error)
}

var kepMessages = map[string]func() (request, response any){
	"/csi.v1.Controller/ControllerGetNodeInfo": func() (any, any) {
		return &controllerGetNodeInfoRequest{}, &controllerGetNodeInfoResponse{}
	},
	"/csi.v1.Node/NodeGetInfo": func() (any, any) {
		return &nodeGetInfoRequest{}, &csi.NodeGetInfoResponse{}
	},
}

var errUnknownField = errors.New("a field that KEP-6011 does not know")

func parseKep(message kepMessage, body []byte) error {
	for len(body) > 0 {
		number, _, length := protowire.ConsumeTag(body)
		if length < 0 {
			return protowire.ParseError(length)
		}
		body = body[length:]
		length, err := message.field(number, body)
		if err != nil {
			return err
		}
		if length < 0 {
			return protowire.ParseError(length)
		}
		body = body[length:]
	}
	return nil
}

func (m *controllerGetNodeInfoRequest) field(number protowire.Number, body []byte) (int, error) {
	if number != 1 {
		return 0, errUnknownField
	}
	text, length := protowire.ConsumeString(body)
	m.NodeId = text
	return length, nil
}

func (m *nodeGetInfoRequest) field(number protowire.Number, body []byte) (int, error) {
	if number != 1 {
		return 0, errUnknownField
	}
	value, length := protowire.ConsumeVarint(body)
	m.ControllerGetNodeInfo = protowire.DecodeBool(value)
	return length, nil
}

func (m *controllerGetNodeInfoResponse) field(number protowire.Number, body []byte) (int, error) {
	switch number {
	case 1:
		value, length := protowire.ConsumeVarint(body)
		m.MaxVolumesPerNode = int64(value)
		return length, nil
	case 2:
		topology, length := protowire.ConsumeBytes(body)
		m.AccessibleTopology = &csi.Topology{}
		return length, proto.Unmarshal(topology, m.AccessibleTopology)
	case 3:
		text, length := protowire.ConsumeString(body)
		m.PublishedVolumeIds = append(m.PublishedVolumeIds, text)
		return length, nil
	}
	return 0, errUnknownField
}

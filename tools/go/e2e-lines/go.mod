module mockdriver.invalid/e2e-lines

go 1.25.0

tool mockdriver.invalid/e2e-lines

require (
	github.com/container-storage-interface/spec v1.13.0
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260526163538-3dc84a4a5aaa
	google.golang.org/grpc v1.83.1
	google.golang.org/protobuf v1.36.12
)

require (
	golang.org/x/net v0.55.0 // indirect
	golang.org/x/sys v0.45.0 // indirect
	golang.org/x/text v0.37.0 // indirect
)

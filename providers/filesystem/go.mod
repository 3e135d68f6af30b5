module github.com/agentco/agent/providers/filesystem

go 1.26.0

require github.com/agentco/agent/sdk v0.0.0

replace github.com/agentco/agent/sdk => ../../sdk

require github.com/agentco/agent/proto v0.0.0

require (
	github.com/aymanbagabas/go-udiff v0.4.1 // indirect
	github.com/bmatcuk/doublestar/v4 v4.10.4 // indirect
	github.com/gabriel-vasile/mimetype v1.4.16 // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/spf13/afero v1.15.0 // indirect
	github.com/stretchr/testify v1.12.1 // indirect
	go.uber.org/goleak v1.3.0 // indirect
	golang.org/x/net v0.60.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	golang.org/x/text v0.44.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260817212433-ac3dfec99bb1 // indirect
	google.golang.org/grpc v1.85.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)

replace github.com/agentco/agent/proto => ../../proto

// Command hello is the provider of the SDK's package documentation.
package main

import (
	"context"

	"github.com/agentco/agent/sdk"
)

type in struct {
	Name string `json:"name" doc:"Whom to greet."`
}
type out struct {
	Greeting string `json:"greeting"`
}

func main() {
	p := sdk.New[struct{}]("hello", "Greets people.")
	sdk.Tool(p, "greet", "Greet somebody.", func(_ context.Context, _ *sdk.Call[struct{}], i in) (out, error) {
		return out{"Hello, " + i.Name}, nil
	}).ReadOnly()
	sdk.Main(p)
}

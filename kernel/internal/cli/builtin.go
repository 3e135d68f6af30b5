package cli

import (
	"github.com/spf13/cobra"

	"github.com/agentco/agent/kernel/internal/schema"
)

// builtIn gives the commands that cobra makes itself the manners of ours: a wrong word is an error that says what was
// probably meant, and help has an example.
func builtIn(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Example = "  agent help invoke\n  agent help providers schema"
			cmd.Args = helpTopic
		case "completion":
			cmd.Example = "  source <(agent completion bash)\n  agent completion fish > ~/.config/fish/completions/agent.fish"
			cmd.Args = noMoreThan(0)
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			for _, shell := range cmd.Commands() {
				shell.Example = "  agent completion " + shell.Name()
				shell.Args = noMoreThan(0)
			}
		}
	}
}

// helpOf has --help behind a word that is no command say so: the help of what stands before it would look like an answer.
func (a *app) helpOf(root *cobra.Command) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, words []string) {
		if topics := cmd.Flags().Args(); cmd.HasSubCommands() && cmd.Flags().Changed("help") && len(topics) > 0 {
			a.unhelpful = noMoreThan(0)(cmd, topics)
			return
		}
		help(cmd, words)
	})
}

func helpTopic(cmd *cobra.Command, words []string) error {
	topic, rest, err := cmd.Root().Find(words)
	if err != nil {
		return usagef("%w", err)
	}
	if len(rest) == 0 {
		return nil
	}
	return usagef("%s has no command %q%s; see %s --help", topic.CommandPath(), rest[0], schema.Hint(rest[0], commandNames(topic)), topic.CommandPath())
}

func commandNames(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return names
}

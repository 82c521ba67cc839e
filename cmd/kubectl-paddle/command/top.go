// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-base/term"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/cluster"
	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/story"
)

// tick is how often the ages on the screen are written anew; nothing is asked of the API server for that.
const tick = time.Second

func (s *session) top() *cobra.Command {
	var everywhere, once bool
	var selector, output string
	cmd := &cobra.Command{
		Use: "top", Short: "Watch the phases of jobs as they change, until Ctrl-C", Args: none,
		Long: "Watch the phases of jobs as they change, until Ctrl-C. Where the output is no terminal, the table is printed once.\n" +
			"With -o json or yaml each change is printed as it comes, one line of JSON or one document of YAML for each.\n\n" +
			"AHEAD IN QUEUE is how many jobs of the same queue wait too and come before: those of a higher priority, and of the same\n" +
			"priority the older. 2+ is 2 or more: other namespaces may not be read. A job that fits may start before one ahead that\n" +
			"does not, and plugins that share a queue out (drf) may take another first. It is not told of each change (-o without --once).",
		Example: "  kubectl paddle top\n  kubectl paddle top -A --once\n  kubectl paddle top -o json | jq -r '[.name, .phase] | @tsv'",
	}
	cmd.Flags().BoolVarP(&everywhere, "all-namespaces", "A", false, "watch the jobs of all namespaces")
	cmd.Flags().StringVarP(&selector, "selector", "l", "", "watch jobs with these labels, such as team=vision,stage!=test")
	cmd.Flags().StringVarP(&output, "output", "o", "", "output format: json or yaml")
	cmd.Flags().BoolVar(&once, "once", false, "print the jobs as they are, and end")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if _, err := labels.Parse(selector); err != nil {
			return usage("--selector: %w", err)
		}
		if output != "" && output != "json" && output != "yaml" {
			return usage("unknown output %q: json or yaml", output)
		}
		clients, namespace, err := s.connect()
		if err != nil {
			return err
		}
		if everywhere {
			namespace = metav1.NamespaceAll
		}
		ctx := cmd.Context()
		// What an informer would try for ever is told at once: a server that is not there, a right that is missing.
		jobs, err := clients.Paddle.BatchV1().PaddleJobs(namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			return err
		}
		w := cluster.NewWatch(clients.Paddle, namespace, selector)
		if output != "" && !once {
			return s.stream(ctx, w, output)
		}
		line, unread, err := clients.Line(ctx, namespace)
		if err != nil {
			return err
		}
		switch _, _, err := term.TerminalSize(s.Out); {
		case output != "":
			s.left(unread)
			for i := range jobs.Items {
				p := story.NewProgress(&jobs.Items[i], time.Now(), 0)
				p.Ahead = line.Ahead(&jobs.Items[i])
				if err := s.printChange(output, "", p); err != nil {
					return err
				}
			}
			return nil
		case once, err != nil:
			s.left(unread)
			return s.say(table(progressRows(jobs.Items, line, everywhere, time.Now())))
		}
		return s.screen(ctx, w, everywhere, func() (*story.Line, error) {
			line, _, err := clients.Line(ctx, namespace)
			return line, err
		})
	}
	return cmd
}

// stream prints changes until ctx is over.
func (s *session) stream(ctx context.Context, w *cluster.Watch, output string) error {
	last := map[string]*story.Progress{}
	return w.Run(ctx, func(change cluster.Change) error {
		p := story.NewProgress(change.Job, time.Now(), 0)
		key := p.Namespace + "/" + p.Name
		if change.Kind == cluster.Deleted {
			delete(last, key)
			return s.printChange(output, change.Kind, p)
		}
		if before := last[key]; before != nil && before.Same(p) {
			return nil
		}
		last[key] = p
		return s.printChange(output, change.Kind, p)
	})
}

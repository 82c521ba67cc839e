// SPDX-License-Identifier: Apache-2.0

package command

import (
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/cluster"
	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// jobNames completes names of jobs that are not among the arguments yet.
func (s *session) jobNames(several bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 && !several {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		clients, namespace, err := s.connect()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		jobs, err := cluster.List[v1.PaddleJobList](cmd.Context(), clients, namespace, metav1.ListOptions{})
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		typed := map[string]bool{}
		for _, name := range args {
			typed[name] = true
		}
		var names []string
		for i := range jobs.Items {
			if job := &jobs.Items[i]; !typed[job.Name] {
				names = append(names, job.Name+"\t"+string(job.Status.Phase))
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// must is for what only a mistake in this package makes fail.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

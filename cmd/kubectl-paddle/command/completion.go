// SPDX-License-Identifier: Apache-2.0

package command

import (
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
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
		jobs, err := clients.Paddle.BatchV1().PaddleJobs(namespace).List(cmd.Context(), metav1.ListOptions{})
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

// completeFlags completes the values of flags that all commands have.
func (s *session) completeFlags(root *cobra.Command) {
	must(root.RegisterFlagCompletionFunc("namespace", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		clients, _, err := s.connect()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		list, err := clients.Kube.CoreV1().Namespaces().List(cmd.Context(), metav1.ListOptions{})
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var names []string
		for i := range list.Items {
			names = append(names, list.Items[i].Name)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}))
}

func completeRoles(cmd *cobra.Command) {
	must(cmd.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(observed.Roles, cobra.ShellCompDirectiveNoFileComp)))
}

// must is for what only a mistake in this package makes fail.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

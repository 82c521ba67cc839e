// SPDX-License-Identifier: Apache-2.0

// Command kubectl is Kubernetes' own kubectl, built from its module, for machines that have none.
package main

import (
	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

func main() {
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err) // it also ends the program, as kubectl does
	}
}

// SPDX-License-Identifier: Apache-2.0

package live

import (
	"fmt"
	"os"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// realAsked is the environment variable without which nothing is run on a real node.
const realAsked = "REAL"

// RealAsked tells whether a package's tests on a real node are to be run. Where they are asked for and the machine does not
// allow them it shouts, so that nobody who reads the log of a green run believes that they were run.
func RealAsked(what string) bool {
	if os.Getenv(realAsked) == "" {
		fmt.Println(what, "is not tested here: `make test-real` does it")
		return false
	}
	err := sandbox.RealAllowed()
	if err != nil {
		ShoutUntested(what, err)
	}
	return err == nil
}

// ShoutUntested says that something was not tested, in the log and beside it.
func ShoutUntested(what string, why error) {
	if os.Getenv("GITHUB_ACTIONS") != "" {
		fmt.Printf("::warning title=%s::NOT TESTED, because the machine does not allow it\n", what)
	}
	fmt.Printf("\n########## NOT TESTED: %s ##########\n%v\n##################################################\n\n", what, why)
}

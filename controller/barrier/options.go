// SPDX-License-Identifier: Apache-2.0

package barrier

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Variables that tell a pod from its peers; the container that runs the program has them beside those of the job's
// ConfigMap.
const (
	// IndexVariable holds the pod's place in the list of its role.
	IndexVariable = "BARRIER_POD_INDEX"
	// IPsVariable holds the pod's own IPs, with commas between them.
	IPsVariable = "BARRIER_POD_IPS"
)

// Options are the program's arguments.
type Options struct {
	// Own is the variable that lists the endpoints of the pod's own role.
	Own string
	// Peers are the lists of all roles.
	Peers []List
	// Timeout bounds the waiting.
	Timeout time.Duration
}

// List is one role of the job.
type List struct {
	// Variable holds its endpoints: host:port,host:port.
	Variable string
	// Least is how many of them must be found, the first among them, through whom the others meet. 0 asks for none.
	Least int
}

// Arguments are the options as Parse reads them.
func (o *Options) Arguments() []string {
	lists := make([]string, len(o.Peers))
	for i, list := range o.Peers {
		lists[i] = list.Variable + "=" + strconv.Itoa(list.Least)
	}
	return []string{"--own=" + o.Own, "--peers=" + strings.Join(lists, ","), "--timeout=" + o.Timeout.String()}
}

// Parse reads arguments. What is wrong with them is written to out, or how to write them if they ask for it.
func Parse(args []string, out io.Writer) (*Options, error) {
	o := &Options{}
	flags := flag.NewFlagSet("paddle-barrier", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&o.Own, "own", "", "The `variable` that lists the endpoints of the pod's own role.")
	flags.DurationVar(&o.Timeout, "timeout", 0, "How `long` to wait at most.")
	flags.Func("peers", "The `lists` of all roles, each as VARIABLE=LEAST: how many of its endpoints must be found.", func(text string) error {
		for part := range strings.SplitSeq(text, ",") {
			name, number, _ := strings.Cut(part, "=")
			least, err := strconv.Atoi(number)
			if err != nil || name == "" || least < 0 {
				return fmt.Errorf("%q is not VARIABLE=LEAST", part)
			}
			o.Peers = append(o.Peers, List{name, least})
		}
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return nil, err //nolint:wrapcheck // it is told already
	}
	switch {
	case flags.NArg() > 0:
		return nil, fmt.Errorf("there is an argument too many: %q", flags.Arg(0))
	case !slices.ContainsFunc(o.Peers, func(l List) bool { return l.Variable == o.Own }):
		return nil, fmt.Errorf("--own is %q, which is not among --peers", o.Own)
	case o.Timeout <= 0:
		return nil, fmt.Errorf("--timeout is %s: use more than 0", o.Timeout)
	}
	return o, nil
}

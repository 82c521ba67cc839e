// SPDX-License-Identifier: Apache-2.0

package volcano

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRefusalOfPods(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		`Error creating pods: [failed to create pod a, err: &errors.StatusError{ErrStatus:v1.Status{Status:"Failure", Message:"pods \"a\" is forbidden: b", Reason:"Forbidden"}} ` +
			`failed to create pod c, err: &errors.StatusError{ErrStatus:v1.Status{Message:"pods \"c\" is forbidden"}}]`: `pods "a" is forbidden: b`,
		`(combined from similar events): Error creating pods: [err: &errors.StatusError{ErrStatus:v1.Status{Message:"exceeded quota"}}]`: "exceeded quota",
		`Error creating pods: [failed to create pod a, err: &url.Error{Op:"Post"}]`:                                                      "",
		`ErrStatus:v1.Status{Message:"", Reason:""}`:                                                                                     "",
		`ErrStatus:v1.Status{Message:"\q", Reason:"none"}`:                                                                               "",
	} {
		sentence, ok := PodCreateError(message)
		require.Equal(t, want != "", ok, message)
		if ok {
			require.Equal(t, want, sentence)
		}
	}
}

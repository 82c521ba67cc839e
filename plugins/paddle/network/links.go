// SPDX-License-Identifier: Apache-2.0

package network

import "errors"

func parseLinks(string) ([]int, error) { return nil, errors.New("not yet") }

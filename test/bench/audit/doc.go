// SPDX-License-Identifier: Apache-2.0

// Package audit has a sandbox's API server write down what is asked of it, and reads what it wrote, also while it writes;
// what is concluded from it is each benchmark's own.
package audit

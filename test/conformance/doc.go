// SPDX-License-Identifier: Apache-2.0

// Package conformance works out what Paddle's launcher and role makers conclude from the environment of a job's pods; nothing of this project's own rendering may be used to do so.
//
// The rules are those of PaddlePaddle's own code, named file by file below, so that an environment can be judged without
// running Paddle: [Environment] resolves a pod's variables as the kubelet does, [PSRoleMaker], [CollectiveRoleMaker],
// [Launch] and [CTRScript] say what one process makes of them, and [Gang.Check] whether all processes of a job together
// would train.
package conformance

// SPDX-License-Identifier: Apache-2.0

package cluster

import "fmt"

// Mode of a job.
type Mode string

// Modes. Other is a job of another framework, which bears no mark of Paddle.
const (
	PS         Mode = "PS"
	Collective Mode = "Collective"
	Other      Mode = "Other"
)

// Names of the tasks of Paddle jobs.
const (
	ServerTask = "ps"
	WorkerTask = "worker"
)

// Job is what someone wants to run, as one gang.
type Job struct {
	Name  string
	Mode  Mode
	Roles []Role
	// Age in seconds: the older of two jobs comes first in a queue.
	Age int
}

// Role is the equal pods of one task.
type Role struct {
	Task    string
	Pods    int
	Request Amounts
}

// ServersAndWorkers is a job in PS mode.
func ServersAndWorkers(name string, servers, workers int, server, worker Amounts) Job {
	return Job{Name: name, Mode: PS, Roles: []Role{{ServerTask, servers, server}, {WorkerTask, workers, worker}}}
}

// Ring is a collective job.
func Ring(name string, pods int, worker Amounts) Job {
	return Job{Name: name, Mode: Collective, Roles: []Role{{WorkerTask, pods, worker}}}
}

// Pods of all roles.
func (j *Job) Pods() int {
	sum := 0
	for i := range j.Roles {
		sum += j.Roles[i].Pods
	}
	return sum
}

// Demand is what all pods ask for, added up.
func (j *Job) Demand() Amounts {
	var sum Amounts
	for i := range j.Roles {
		r, n := j.Roles[i].Request, int64(j.Roles[i].Pods)
		sum = sum.Plus(Amounts{CPU: r.CPU * n, Memory: r.Memory * n, GPU: r.GPU * n})
	}
	return sum
}

// PodName is the name of one pod of the job, as Volcano's Job controller gives it.
func (j *Job) PodName(task string, index int) string {
	return fmt.Sprintf("%s-%s-%d", j.Name, task, index)
}

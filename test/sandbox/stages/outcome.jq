# Where a simulated pod stands, and what becomes of it, from its annotations, role and restart policy. A Go template: the
# constants come in double angle brackets. Input is the pod; the expression wanted follows these definitions.
def pending: .metadata.deletionTimestamp == null and .status.phase == "Pending";
def running: .metadata.deletionTimestamp == null and .status.phase == "Running";
def initialized: first(.status.conditions[]? | select(.type == "Initialized") | .status) // null;
def refused: .status.containerStatuses[0].state.waiting.reason == "CreateContainerConfigError";

def note($key): .metadata.annotations["<<.Prefix>>" + $key];
def worker: [.metadata.labels["volcano.sh/task-spec"], .metadata.labels["paddle-res-type"]]
  | any(. == "worker" or . == "trainer");
def run_for: note("run-for") // (if worker then "<<.WorkerRunFor>>" else "forever" end);
def exit_code: note("exit-code") // "0";

def timed: test("^([0-9]+([.][0-9]+)?(h|m|s|ms))+$");
def seconds: [scan("([0-9]+(?:[.][0-9]+)?)(ms|h|m|s)")
  | (.[0] | tonumber) * ({h: 3600, m: 60, s: 1, ms: 0.001}[.[1]])] | add;
def whole: test("^[0-9]{1,9}$");

def understood: (run_for | . == "forever" or timed) and (exit_code | whole and tonumber <= 255)
  and (note("fail-attempt") // "0" | whole);

# Restarts of the gang and restarts in place are one count: 0 is the first attempt.
def attempt: (.metadata.annotations["<<.RetryCount>>"] // "0" | tonumber)
  + (.status.containerStatuses[0].restartCount // 0);
def fails: exit_code != "0" and (note("fail-attempt") as $n | $n == null or ($n | tonumber) == attempt);

# One of run, succeed, fail, restart-failed, restart-done.
def outcome:
  if fails then (if .spec.restartPolicy == "Never" then "fail" else "restart-failed" end)
  elif run_for == "forever" then "run"
  elif .spec.restartPolicy == "Always" then "restart-done"
  else "succeed" end;

# The time left. A pod that fails and has no time of its own fails after one second.
def started: .status.conditions[] | select(.type == "<<.Prefix>>Started") | .message | tonumber / 1000;
def remaining: (started + (run_for | if . == "forever" then 1 else seconds end) - now) * 1000
  | "\(. | floor)ms";

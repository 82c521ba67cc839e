// SPDX-License-Identifier: Apache-2.0

package report

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// placeholders returns the names in braces of a text, sorted.
func placeholders(text string) []string {
	var names []string
	for _, match := range regexp.MustCompile(`\{(\w+)`).FindAllStringSubmatch(text, -1) {
		names = append(names, match[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestCatalogs_HaveTheSameKeysAndPlaceholders(t *testing.T) {
	require.Equal(t, slices.Sorted(maps.Keys(English)), slices.Sorted(maps.Keys(Chinese)))
	for key, text := range English {
		require.Equal(t, placeholders(text), placeholders(Chinese[key]), key)
		if key != "plural" {
			require.NotEmpty(t, Chinese[key], key)
			require.NotEmpty(t, text, key)
		}
	}
}

// Each key that the programs name is in the catalogs, and the programs name each key or what it begins with.
func TestCatalogs_HaveWhatIsUsed(t *testing.T) {
	used := map[string]bool{}
	for _, pattern := range []string{"*.go", "../../../cmd/kubectl-paddle/describe/*.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			source, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, match := range regexp.MustCompile(`"((?:why|reason|help|suggest|noun|details|nodes|missing|shortage|some|gang-port|comma|and|plural|language)[\w.-]*)"`).FindAllStringSubmatch(string(source), -1) {
				used[match[1]] = true
			}
		}
	}
	for key := range used {
		if !strings.HasSuffix(key, ".") && strings.Contains(key, ".") {
			require.Contains(t, English, key)
		}
	}
	composed := regexp.MustCompile(`^(reason|help|suggest|noun|why\.times|why\.help|why)\.(\w| )+$|^(fit|exist|node)\.(one|many)$`)
	for key := range English {
		require.True(t, used[key] || composed.MatchString(key), "no program uses %s", key)
	}
}

func TestForLocale(t *testing.T) {
	for _, test := range []struct {
		environment map[string]string
		want        Catalog
	}{
		{nil, English},
		{map[string]string{"LANG": "zh_CN.UTF-8"}, Chinese},
		{map[string]string{"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_CN"}, Chinese},
		{map[string]string{"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, English},
	} {
		require.Equal(t, test.want, ForLocale(func(name string) string { return test.environment[name] }), "%v", test.environment)
	}
}

func TestTranslate(t *testing.T) {
	workers := []Role{{Role: "worker", Minimum: 4, Missing: 2}}
	for want, r := range map[string]Report{
		"4 个 worker 中的 2 个没有节点：8 个节点中的 3 个带有污点 a=b:NoSchedule，而 Pod 不容忍它": {
			Reason: UntoleratedTaint, Missing: &Missing{Roles: workers},
			Nodes: &Nodes{Total: 8, Candidates: 8, Refused: []Refused{{UntoleratedTaint, 3, "a=b:NoSchedule"}}},
		},
		"4 个 worker 中的 2 个放不下：nvidia.com/gpu 请求 16，可用 6": {
			Reason: InsufficientResources, Message: "own", Missing: &Missing{Roles: workers, Resources: []Resource{{"nvidia.com/gpu", "16", "6"}}},
		},
		"1 个 参数服务器 中的 1 个没有节点：PersistentVolumeClaim data 不存在": {
			Reason: PersistentVolumeClaimNotFound, Missing: &Missing{Roles: []Role{{"server", 1, 1}}, Objects: []Object{{"PersistentVolumeClaim", "data"}}},
		},
		"队列 q 未打开：它不接收作业，也不启动 Pod": {Reason: QueueClosed, Value: "q"},
		"正在终止的 Pod 消失后，该作业组就放得下":   {Reason: TerminatingPods, Message: "own"},
	} {
		require.Equal(t, want, r.Translate(Chinese))
		require.Empty(t, r.Translate(English), "its message is English")
	}
	for _, unknown := range []Report{{Reason: "x", Message: "own"}, {Reason: QueueClosed}, {Reason: TooManyPods}, {Reason: ResourceClaimNotFound}} {
		require.Empty(t, unknown.Translate(Chinese), "%s: the data do not have it", unknown.Reason)
	}
	require.Equal(t, []string{"3 个 worker 时放得下", "等待其他作业结束，或减少请求"},
		(&Report{Reason: InsufficientResources, Suggestions: []Suggestion{SuggestFewer("worker", 3)}}).Help(Chinese))
	require.Equal(t, "允许 tier rack 时放得下，且 colocation 为 Preferred", SuggestTier("rack", true).In(Chinese))
	require.Equal(t, "it fits with tier rack and colocation Preferred", SuggestTier("rack", true).Text)
}

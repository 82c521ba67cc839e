// SPDX-License-Identifier: Apache-2.0

package placement

import "slices"

// fewer members: of one role, workers before servers before others; of several only if one is not enough. No role loses
// its last member.
func (x *relaxing) fewer() (found []Relaxation) {
	roles := x.byTraffic()
	for _, role := range roles {
		if r, ok := x.fewerOf(Relaxation{Change: FewerMembers}, role); ok {
			found = append(found, r)
		}
	}
	if len(found) == 0 && len(roles) > 1 {
		return x.fewerOfSeveral(roles)
	}
	return found
}

// byTraffic are the roles that can lose members: those who need some, workers first.
func (x *relaxing) byTraffic() (roles []int) {
	for _, kinds := range [][]Traffic{{Worker, HeterWorker}, {Server}, {Silent}} {
		for r := range x.d.Roles {
			if slices.Contains(kinds, x.d.Roles[r].Traffic) && x.spare(r) > 0 {
				roles = append(roles, r)
			}
		}
	}
	return roles
}

// spare is how many members of a role may go: those that do not run, but for one if none does.
func (x *relaxing) spare(role int) int {
	if len(x.d.Roles[role].Placed) == 0 {
		return int(max(0, x.need[role]-1))
	}
	return int(x.need[role])
}

func (x *relaxing) by(role, count int) Fewer {
	return Fewer{Role: role, Name: x.d.Roles[role].Name, By: count, Minimum: x.d.Roles[role].Minimum - count}
}

// fewerOf one role: the least that works, on top of a change.
func (x *relaxing) fewerOf(base Relaxation, role int) (best Relaxation, ok bool) {
	step := x.step(role)
	guess := (int(x.need[role]) - x.best.Together[role] + step - 1) / step
	least := smallest(x.spare(role)/step, guess, func(n int) bool {
		r := base
		r.Fewer = append(slices.Clone(base.Fewer), x.by(role, n*step))
		r.wholeGroups = step > 1
		works := x.works(&r)
		if works {
			best = r
		}
		return works
	})
	return best, least > 0
}

// step is how many members make whole parallel groups, if the role's minimum does.
func (x *relaxing) step(role int) int {
	if x.d.Pattern != Collective || x.d.Roles[role].Traffic != Worker {
		return 1
	}
	pods := int(groupInPods(x.d.GroupSize, max(1, int(x.t.gpusOf(x.d.Roles[role].Request)))))
	if x.d.Roles[role].Minimum%pods != 0 {
		return 1
	}
	return pods
}

// fewerOfSeveral takes all it can off role after role until it works, and then gives back as much as it can, to the last
// role first: so that servers stay rather than workers.
func (x *relaxing) fewerOfSeveral(roles []int) []Relaxation {
	r := Relaxation{Change: FewerMembers}
	works := false
	for i := 0; i < len(roles) && !works; i++ {
		r.Fewer = append(r.Fewer, x.by(roles[i], x.spare(roles[i])))
		works = i > 0 && x.works(&r)
	}
	if !works {
		return nil
	}
	for i := len(r.Fewer) - 1; i >= 0; i-- {
		base := r
		base.Fewer = slices.Delete(slices.Clone(r.Fewer), i, i+1)
		if x.works(&base) {
			r = base
		} else if less, ok := x.fewerOf(base, r.Fewer[i].Role); ok {
			less.Fewer = slices.Insert(base.Fewer, i, less.Fewer[len(less.Fewer)-1])
			r = less
		}
	}
	return []Relaxation{r}
}

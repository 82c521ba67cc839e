// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// place adds where the gang is and what a step of its training sends.
func (d *Description) place(o *Objects) {
	r := o.report(corev1.ConditionTrue)
	if r == nil {
		return
	}
	d.say(AboutPlace, r.Message, r.Details()...)
	if r.Placement != nil {
		for _, sentence := range r.Placement.Sentences() {
			d.say(AboutPlace, sentence)
		}
	}
}

// surplus adds the pods beyond the minimum that have no nodes.
func (d *Description) surplus(o *Objects) {
	if r := o.report(corev1.ConditionTrue); r != nil {
		d.say(AboutPods, r.Surplus)
	}
}

// Spread reports whether a gang that runs is in several domains of a tier and sends something between them, so that another
// place might be faster.
func Spread(o *Objects) bool {
	p := Placement(o.PodGroup)
	return p != nil && len(spread(p)) > 0
}

// spread returns the tiers above the nodes of which a gang uses several domains.
func spread(p *report.Placement) (tiers []report.Tier) {
	for i, tier := range p.Tiers {
		if i > 0 && tier.Count > 1 && tier.Crossing > 0 {
			tiers = append(tiers, tier)
		}
	}
	return tiers
}

// spread adds that a gang would send less over slower links on an empty cluster, if that is known.
func (d *Description) spread(o *Objects) {
	p := Placement(o.PodGroup)
	if p == nil || o.Ideal == nil {
		return
	}
	for _, tier := range spread(p) {
		if !p.Better(o.Ideal, tier.Name) {
			continue
		}
		d.say(AboutPlace, fmt.Sprintf("its place is not the fastest: its pods are in %d %s, and each step of training sends %s between them; on an empty cluster it would send %s",
			tier.Count, report.Domains(2, tier.Name), p.Amount(tier.Crossing), o.Ideal.Traffic()))
	}
}

// Place returns where a gang runs and what a step of training sends, in sentences.
func Place(group *vcscheduling.PodGroup) (sentences []string) {
	d := &Description{}
	d.place(&Objects{PodGroup: group})
	for _, sentence := range d.Sentences {
		sentences = append(sentences, sentence.Text)
	}
	return sentences
}

// Placement returns where a gang runs, nil if it has no nodes or the scheduler does not report it.
func Placement(group *vcscheduling.PodGroup) *report.Placement {
	o := Objects{PodGroup: group}
	if r := o.report(corev1.ConditionTrue); r != nil {
		return r.Placement
	}
	return nil
}

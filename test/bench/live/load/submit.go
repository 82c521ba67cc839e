// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/paddle-volcano/paddle-volcano/test/live"
)

// creators create at the same time.
const creators = 32

// Submit creates all gangs, the first ones first.
func (l Load) Submit(ctx context.Context, p *live.Plane) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(creators)
	for i := l.First; i < l.First+l.Gangs; i++ {
		for _, submit := range l.objects(p, i) {
			group.Go(func() error {
				if err := submit(ctx); err != nil {
					return fmt.Errorf("submit gang %s as %s: %w", l.Name(i), l.Form, err)
				}
				return nil
			})
		}
	}
	return group.Wait()
}

// Withdraw removes gang i of pods with a PodGroup.
func (l Load) Withdraw(ctx context.Context, p *live.Plane, i int) error {
	pods, side := errgroup.WithContext(ctx)
	now := metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}
	for m := range l.Gang {
		pods.Go(func() error { return p.Kube.CoreV1().Pods(Namespace).Delete(side, l.pod(i, m).Name, now) })
	}
	if err := pods.Wait(); err != nil {
		return fmt.Errorf("withdraw gang %s: %w", l.Name(i), err)
	}
	if err := p.Volcano.SchedulingV1beta1().PodGroups(Namespace).Delete(ctx, l.Name(i), now); err != nil {
		return fmt.Errorf("withdraw gang %s: %w", l.Name(i), err)
	}
	return nil
}

// objects make what gang i consists of.
func (l Load) objects(p *live.Plane, i int) []func(context.Context) error {
	switch l.Form {
	case PaddleJobs:
		return []func(context.Context) error{func(ctx context.Context) error {
			_, err := p.Paddle.BatchV1().PaddleJobs(Namespace).Create(ctx, l.paddleJob(i), metav1.CreateOptions{})
			return err
		}}
	case VolcanoJobs:
		return []func(context.Context) error{func(ctx context.Context) error {
			_, err := p.Volcano.BatchV1alpha1().Jobs(Namespace).Create(ctx, rawJob(l.paddleJob(i), l.Barrier), metav1.CreateOptions{})
			return err
		}}
	}
	all := []func(context.Context) error{func(ctx context.Context) error {
		_, err := p.Volcano.SchedulingV1beta1().PodGroups(Namespace).Create(ctx, l.podGroup(i), metav1.CreateOptions{})
		return err
	}}
	for m := range l.Gang {
		all = append(all, func(ctx context.Context) error {
			_, err := p.Kube.CoreV1().Pods(Namespace).Create(ctx, l.pod(i, m), metav1.CreateOptions{})
			return err
		})
	}
	return all
}

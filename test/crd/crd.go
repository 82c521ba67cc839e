// SPDX-License-Identifier: Apache-2.0

package crd

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"sigs.k8s.io/yaml"
)

// Validator judges the objects of one version of a CustomResourceDefinition.
type Validator struct {
	structural *schema.Structural
	schema     validation.SchemaValidator
	rules      *cel.Validator
}

// NewValidator returns the validator of the only version of a CustomResourceDefinition, given as YAML. It is an error if the API
// server would refuse the definition: for its schema, a rule that does not compile, or the estimated cost of its rules.
func NewValidator(ctx context.Context, text []byte) (*Validator, error) {
	var external apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &external); err != nil {
		return nil, fmt.Errorf("read the definition: %w", err)
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinition(&external)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&external.Spec)
	var crd apiextensions.CustomResourceDefinition
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&external, &crd, nil); err != nil {
		return nil, fmt.Errorf("convert the definition: %w", err)
	}
	crd.Status.StoredVersions = []string{crd.Spec.Versions[0].Name} // as the API server does at creation
	if errs := crdvalidation.ValidateCustomResourceDefinition(ctx, &crd); len(errs) > 0 {
		return nil, fmt.Errorf("the API server would refuse the definition: %w", errs.ToAggregate())
	}
	props := crd.Spec.Validation
	if props == nil {
		props = crd.Spec.Versions[0].Schema
	}
	structural, err := schema.NewStructural(props.OpenAPIV3Schema)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	bySchema, _, err := validation.NewSchemaValidator(props.OpenAPIV3Schema)
	if err != nil {
		return nil, fmt.Errorf("compile the schema: %w", err)
	}
	return &Validator{structural: structural, schema: bySchema, rules: cel.NewValidator(structural, true, celconfig.PerCallLimit)}, nil
}

// Create returns what the API server would have against the creation of an object.
func (v *Validator) Create(ctx context.Context, object *unstructured.Unstructured) field.ErrorList {
	content := v.defaulted(object)
	errs := validation.ValidateCustomResource(nil, content, v.schema)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, v.structural, content)...)
	byRules, _ := v.rules.Validate(ctx, nil, v.structural, content, nil, celconfig.RuntimeCELCostBudget)
	return append(errs, byRules...)
}

// Update returns what the API server of Kubernetes 1.30 or later would have against a change of an object: a field that is wrong
// may stay as it is.
func (v *Validator) Update(ctx context.Context, object, before *unstructured.Unstructured) field.ErrorList {
	content, old := v.defaulted(object), v.defaulted(before)
	related := common.NewCorrelatedObject(content, old, &model.Structural{Structural: v.structural})
	errs := validation.ValidateCustomResourceUpdate(nil, content, old, v.schema, validation.WithRatcheting(related))
	if len(listtype.ValidateListSetsAndMaps(nil, v.structural, old)) == 0 {
		errs = append(errs, listtype.ValidateListSetsAndMaps(nil, v.structural, content)...)
	}
	byRules, _ := v.rules.Validate(ctx, nil, v.structural, content, old, celconfig.RuntimeCELCostBudget, cel.WithRatcheting(related))
	return append(errs, byRules...)
}

func (v *Validator) defaulted(object *unstructured.Unstructured) map[string]any {
	content := object.DeepCopy().Object
	defaulting.Default(content, v.structural)
	defaulting.PruneNonNullableNullsWithoutDefaults(content, v.structural)
	return content
}

// Compile compiles the rules as the API server of a release of Kubernetes does, and returns how many there are.
func (v *Validator) Compile(major, minor uint) (rules int, err error) {
	env := environment.MustBaseEnvSet(version.MajorMinor(major, minor), true)
	return compile(v.structural, model.SchemaDeclType(v.structural, true), env, "")
}

func compile(s *schema.Structural, decl *apiservercel.DeclType, env *environment.EnvSet, path string) (rules int, err error) {
	if s == nil || decl == nil {
		return 0, nil
	}
	results, err := cel.Compile(s, decl, celconfig.PerCallLimit, env, cel.NewExpressionsEnvLoader())
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	for i, result := range results {
		if result.Error != nil {
			return 0, fmt.Errorf("%s, rule %d: %w", path, i, result.Error)
		}
	}
	rules = len(results)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		child, field := s.Properties[name], decl.Fields[name]
		if field == nil {
			continue
		}
		n, err := compile(&child, field.Type, env, path+"."+name)
		if err != nil {
			return 0, err
		}
		rules += n
	}
	n, err := compile(s.Items, decl.ElemType, env, path+"[]")
	return rules + n, err
}

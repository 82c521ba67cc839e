// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"embed"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"sigs.k8s.io/yaml"
)

//go:embed catalog
var catalogs embed.FS

// Catalog has the texts for users in one language, by their keys.
type Catalog map[string]string

// English is the catalog of conditions, events and most locales.
var English = load("en")

// Chinese is the catalog of Chinese locales.
var Chinese = load("zh")

func load(language string) Catalog {
	c := Catalog{}
	text, err := catalogs.ReadFile("catalog/" + language + ".yaml")
	if err = cmp.Or(err, yaml.UnmarshalStrict(text, &c)); err != nil {
		panic("catalog " + language + ": " + err.Error()) // the files are part of the program
	}
	return c
}

// ForLocale returns the catalog of the locale: Chinese if the first of LC_ALL, LC_MESSAGES and LANG that is set begins with zh.
func ForLocale(getenv func(string) string) Catalog {
	if strings.HasPrefix(cmp.Or(getenv("LC_ALL"), getenv("LC_MESSAGES"), getenv("LANG")), "zh") {
		return Chinese
	}
	return English
}

// English reports whether the catalog is that of English.
func (c Catalog) English() bool { return c["language"] == English["language"] }

// Text returns the text of a key. pairs are the names of its placeholders, each with its value.
func (c Catalog) Text(key string, pairs ...string) string {
	pairs = slices.Clone(pairs)
	for i := 0; i < len(pairs); i += 2 {
		pairs[i] = "{" + pairs[i] + "}"
	}
	return strings.NewReplacer(pairs...).Replace(c[key])
}

// Plural returns the noun for n things.
func (c Catalog) Plural(n int, noun string) string {
	noun = cmp.Or(c["noun."+noun], noun)
	if n == 1 || strings.HasSuffix(noun, "s") {
		return noun
	}
	return noun + c["plural"]
}

// List returns a list such as "a, b and c".
func (c Catalog) List(parts []string) string {
	last := len(parts) - 1
	if last < 1 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:last], c["comma"]) + c["and"] + parts[last]
}

// Some lists at most 5 names.
func (c Catalog) Some(names []string) string {
	const most = 5
	more := len(names) - most
	if more <= 0 {
		return strings.Join(names, c["comma"])
	}
	return c.Text("some", "names", strings.Join(names[:most], c["comma"]), "n", strconv.Itoa(more), "others", c.Plural(more, "other"))
}

// Sentence returns a text as a sentence: an English one begins with a capital, unless its first word is a name or a command, and ends
// with a full stop.
func Sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		return strings.TrimSuffix(text, "。") + "。"
	}
	first, _, _ := strings.Cut(text, " ")
	if first != "kubectl" && !strings.ContainsFunc(first, func(r rune) bool { return !unicode.IsLower(r) && r != ',' && r != ':' }) {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!") {
		return text
	}
	return text + "."
}

package cli

import (
	"slices"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// listed is a list that is [], not null, in JSON where it is empty.
func listed[T any](list []T) []T { return mapped(list, func(v T) T { return v }) }

// picked is f of those in a list that fit.
func picked[A, B any](list []A, f func(A) B, fits func(A) bool) (out []B) {
	for _, v := range list {
		if fits(v) {
			out = append(out, f(v))
		}
	}
	return out
}

// filled are those of some words that are not empty.
func filled(words ...string) []string {
	return slices.DeleteFunc(words, func(s string) bool { return s == "" })
}

// counted is how many of a list fit.
func counted[A any](list []A, fits func(A) bool) int {
	return len(picked(list, func(v A) A { return v }, fits))
}

// namesOf are the names of those members that fit.
func namesOf(members []api.Member, fits func(api.Member) bool) []string {
	return picked(members, func(m api.Member) string { return m.Name }, fits)
}

// mapped makes a list of another one.
func mapped[A, B any](list []A, f func(A) B) []B {
	out := make([]B, 0, len(list))
	for _, v := range list {
		out = append(out, f(v))
	}
	return out
}

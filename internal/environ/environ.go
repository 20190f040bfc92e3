// Package environ knows what of one process's environment another one gets, and how an
// environment (K=V each) is read: the last entry of a name counts, as os/exec has it.
package environ

import (
	"path/filepath"
	"slices"
	"strings"
)

// Lookup returns the value of a variable, and whether it is set.
func Lookup(environ []string, name string) (string, bool) {
	for _, kv := range slices.Backward(environ) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// Get is Lookup for those to whom an empty value is none.
func Get(environ []string, name string) string {
	value, _ := Lookup(environ, name)
	return value
}

// Set returns environ with variables (K=V), each name once: a later value takes the
// place of an earlier one. What is no K=V is left out.
func Set(environ []string, variables ...string) []string {
	at := map[string]int{}
	out := make([]string, 0, len(environ)+len(variables))
	for _, kv := range slices.Concat(environ, variables) {
		name, _, ok := strings.Cut(kv, "=")
		if !ok || name == "" {
			continue
		}
		if i, have := at[name]; have {
			out[i] = kv
			continue
		}
		at[name] = len(out)
		out = append(out, kv)
	}
	return out
}

// Without returns environ without the variables of these names, where one that ends in
// * covers a family.
func Without(environ []string, names ...string) []string {
	covered := covering(names)
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return covered(name)
	})
}

// Only returns those variables of environ that have these names, or are of these families.
func Only(environ []string, names ...string) []string {
	covered := covering(names)
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, ok := strings.Cut(kv, "=")
		return !ok || !covered(name)
	})
}

// covering returns what tells whether one of the names, or families, covers a name.
func covering(names []string) func(name string) bool {
	exact, families := make(map[string]bool, len(names)), []string(nil)
	for _, n := range names {
		if family, ok := strings.CutSuffix(n, "*"); ok {
			families = append(families, family)
		} else {
			exact[n] = true
		}
	}
	return func(name string) bool {
		return exact[name] || slices.ContainsFunc(families, func(f string) bool { return strings.HasPrefix(name, f) })
	}
}

// In returns environ for a program that runs in a folder: PWD says which one, and
// nothing leads it to another one, or to another repository.
func In(environ []string, dir string) []string {
	environ = Without(environ, Folder()...)
	if !filepath.IsAbs(dir) {
		return environ
	}
	return append(environ, "PWD="+filepath.Clean(dir))
}

// Candidates are the paths under which a program may be found: its own, if its name has
// a slash, else one in each folder of PATH. What is relative counts from dir.
func Candidates(environ []string, dir, name string) []string {
	paths := []string{name}
	if !strings.ContainsRune(name, filepath.Separator) {
		paths = nil
		for _, folder := range filepath.SplitList(Get(environ, "PATH")) {
			paths = append(paths, filepath.Join(folder, name))
			if folder == "" { // an empty entry is the folder itself
				paths[len(paths)-1] = "./" + name
			}
		}
	}
	for i, path := range paths {
		if !filepath.IsAbs(path) {
			paths[i] = filepath.Join(dir, path)
		}
	}
	return paths
}

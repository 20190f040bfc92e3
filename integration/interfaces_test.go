package integration_test

import (
	"go/types"
	"testing"
)

// single lists the exported interfaces that may have fewer than two
// implementations in this repository, and why.
func single() map[string]string {
	return map[string]string{
		"backend.Capturer":        "an optional power: a terminal that lacks it is as good a backend",
		"backend.Lister":          "an optional power",
		"backend.Attacher":        "an optional power",
		"backend/backendtest.T":   "the other one is testing.T",
		"teams/db.Querier":        "a database and a transaction of database/sql are the two",
		"cmd/internal/cli.Engine": "leadlight must not link what leadlightd gives it",
	}
}

// TestHouseInterfaces: an interface is exported only when there are two
// implementations of it; else it belongs, unexported, to its consumer.
func TestHouseInterfaces(t *testing.T) {
	t.Parallel()
	all := typeChecked(t)
	for _, p := range all {
		for _, obj := range typeNames(p) {
			iface, ok := obj.Type().Underlying().(*types.Interface)
			if !ok || !obj.Exported() || iface.NumMethods() == 0 || !iface.IsMethodSet() {
				continue
			}
			full := p.name + "." + obj.Name()
			if _, excused := single()[full]; excused {
				continue
			}
			if n := implementations(all, iface); n < 2 {
				t.Errorf("%s is exported and has %d implementations here", full, n)
			}
		}
	}
}

func typeNames(p checked) []*types.TypeName {
	var found []*types.TypeName
	for _, name := range p.Scope().Names() {
		if obj, ok := p.Scope().Lookup(name).(*types.TypeName); ok && !obj.IsAlias() {
			found = append(found, obj)
		}
	}
	return found
}

func implementations(all []checked, iface *types.Interface) int {
	count := 0
	for _, p := range all {
		for _, obj := range typeNames(p) {
			named, ok := obj.Type().(*types.Named)
			if !ok || types.IsInterface(named) || named.TypeParams() != nil {
				continue
			}
			if types.Implements(types.NewPointer(named), iface) {
				count++
			}
		}
	}
	return count
}

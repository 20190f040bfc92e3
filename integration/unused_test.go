package integration_test

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// unusedFor lists what only tests, or nobody in this repository, call, and why it stays.
func unusedFor() map[string]string {
	return map[string]string{
		"backend/memory":                  "a backend without a terminal, for tests",
		"teams/store/memory":              "stores without files, for tests",
		"integration/program":             "builds the program under test",
		"internal/exetest":                "writes the programs that tests run",
		"internal/leaktest":               "proves that tests leave no goroutine behind",
		"teams/observe.Capable":           "what a program that embeds the observer asks first",
		"teams/observe.NewObserver":       "the observer for programs that embed it",
		"teams/observe.Observer.TeamName": "likewise",
		"teams/observe.Observer.Events":   "likewise",
		"teams/observe.Tracker.State":     "likewise",
		"teams/events.Data.Kind":          "the observer's events are told apart by it",
		"backend/iterm2.Backend.HangUp":   "the suite proves that nothing is left when a connection ends",
		"panes/host.Client.Wait":          "a host's word about its agent's end, with the exit status",
		"signals.Marked":                  "the proof of each test of an end: nothing of a host runs any more",
	}
}

// TestHouseUnused: each function and method is called by something that is no test. What a
// test alone calls is dead weight for everybody who reads the package.
func TestHouseUnused(t *testing.T) {
	t.Parallel()
	all := typeChecked(t)
	used := map[types.Object]bool{}
	for _, p := range all {
		for _, file := range p.files {
			for _, d := range file.Decls {
				markUsed(p, d, used)
			}
		}
	}
	eachFunction(all, func(pkg, name string, f *types.Func) { used[f] = used[f] || excused(pkg, name) })
	asked := calledInterfaces(all, used)
	eachFunction(all, func(_, name string, f *types.Func) {
		if f.Exported() && !used[f] && !asked(f) && f.Name() != "Unwrap" && f.Name() != "Is" { // those are errors' own
			t.Errorf("%s: nothing but a test calls it: delete it, or give its reason in unusedFor", name)
		}
	})
}

func eachFunction(all []checked, do func(pkg, name string, f *types.Func)) {
	for _, p := range all {
		for _, f := range functions(p) {
			name := p.name + "." + f.Name()
			if r := f.Signature().Recv(); r != nil {
				name = p.name + "." + named(r.Type()).Obj().Name() + "." + f.Name()
			}
			do(p.name, name, f)
		}
	}
}

// excused tells whether a package or a name of it stands in unusedFor, or helps tests.
func excused(pkg, name string) bool {
	_, whole := unusedFor()[pkg]
	_, one := unusedFor()[name]
	return whole || one || strings.HasSuffix(pkg, "test")
}

// markUsed notes what a declaration calls. A method that hands its call on to another
// implementation of the same interface is no use of it.
func markUsed(p checked, d ast.Decl, used map[types.Object]bool) {
	handsOn := func(*types.Func) bool { return false }
	if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
		handsOn = func(called *types.Func) bool {
			r := called.Signature().Recv()
			if r == nil || called.Name() != f.Name.Name || !types.IsInterface(r.Type()) {
				return false
			}
			i, ok := r.Type().Underlying().(*types.Interface)
			own := p.Scope().Lookup(receiver(f))
			return ok && own != nil && types.Implements(types.NewPointer(own.Type()), i)
		}
	}
	ast.Inspect(d, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if f, ok := p.info.Uses[id].(*types.Func); ok && !handsOn(f) {
				used[f.Origin()] = true
			}
		}
		return true
	})
}

// receiver is the name of a method's type.
func receiver(f *ast.FuncDecl) string {
	t := f.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// functions are the functions and methods that a package declares.
func functions(p checked) []*types.Func {
	var out []*types.Func
	for _, name := range p.Scope().Names() {
		switch obj := p.Scope().Lookup(name).(type) {
		case *types.Func:
			out = append(out, obj)
		case *types.TypeName:
			if n, ok := obj.Type().(*types.Named); ok && !obj.IsAlias() {
				out = slices.AppendSeq(out, n.Methods())
				if i, ok := n.Underlying().(*types.Interface); ok {
					out = slices.AppendSeq(out, i.ExplicitMethods())
				}
			}
		}
	}
	return out
}

// calledInterfaces tells whether a method is called through an interface: one of ours whose
// method is used, or one of another module.
func calledInterfaces(all []checked, used map[types.Object]bool) func(*types.Func) bool {
	called := map[string][]*types.Interface{} // by a method's name
	add := func(scope *types.Scope, own bool) {
		for _, name := range scope.Names() {
			obj, ok := scope.Lookup(name).(*types.TypeName)
			if !ok {
				continue
			}
			i, ok := obj.Type().Underlying().(*types.Interface)
			if !ok {
				continue
			}
			for m := range i.Methods() {
				if !own || used[m.Origin()] || m.Pkg() == nil || !strings.HasPrefix(m.Pkg().Path(), module+"/") {
					called[m.Name()] = append(called[m.Name()], i)
				}
			}
		}
	}
	add(types.Universe, false)
	seen := map[*types.Package]bool{}
	var walk func(p *types.Package)
	walk = func(p *types.Package) {
		if seen[p] {
			return
		}
		seen[p] = true
		add(p.Scope(), strings.HasPrefix(p.Path(), module+"/"))
		for _, below := range p.Imports() {
			walk(below)
		}
	}
	for _, p := range all {
		walk(p.Package)
	}
	return func(f *types.Func) bool {
		r := f.Signature().Recv()
		if r == nil || types.IsInterface(r.Type()) {
			return false
		}
		n := named(r.Type())
		return slices.ContainsFunc(called[f.Name()], func(i *types.Interface) bool {
			return n.TypeParams() != nil || types.Implements(types.NewPointer(n), i)
		})
	}
}

func named(t types.Type) *types.Named {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	n, _ := t.(*types.Named)
	return n
}

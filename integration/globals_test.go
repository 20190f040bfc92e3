package integration_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// TestHouseNoMutableGlobals: a package variable is a table, a pattern or a
// sentinel. None is written to, none has its address taken, and none is a lock, a
// counter or a cache.
func TestHouseNoMutableGlobals(t *testing.T) {
	t.Parallel()
	for _, p := range typeChecked(t) {
		for _, name := range p.Scope().Names() {
			v, ok := p.Scope().Lookup(name).(*types.Var)
			if ok && strings.HasPrefix(strings.TrimPrefix(v.Type().String(), "*"), "sync") {
				t.Errorf("%s.%s holds state for the whole process: %s", p.name, name, v.Type())
			}
		}
		for _, f := range p.files {
			ast.Inspect(f, func(n ast.Node) bool {
				for _, target := range written(n) {
					if v, ok := p.info.Uses[target].(*types.Var); ok && v.Parent() == p.Scope() {
						t.Errorf("%s: the package variable %s is written to", p.set.Position(target.Pos()), v.Name())
					}
				}
				return true
			})
		}
	}
}

// written returns the variables that the statement n changes or lets be changed.
func written(n ast.Node) []*ast.Ident {
	var targets []ast.Expr
	switch s := n.(type) {
	case *ast.AssignStmt:
		targets = s.Lhs
	case *ast.IncDecStmt:
		targets = []ast.Expr{s.X}
	case *ast.UnaryExpr:
		if s.Op == token.AND {
			targets = []ast.Expr{s.X}
		}
	}
	var found []*ast.Ident
	for _, e := range targets {
		if id := root(e); id != nil {
			found = append(found, id)
		}
	}
	return found
}

// root finds x in x, x.f, x[i], *x and their combinations.
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}

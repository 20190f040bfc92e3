package begin

import (
	"slices"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/environ"
)

func TestOrderIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	env := []string{"A=1", "EMPTY=", "LINES=a\nb"}
	whole := &Order{
		Host: "h", Dir: "/d", Path: "/bin/sh", Argv: []string{"sh", "", "-c"}, Defaults: []string{"TERM=x"},
		FromPane: []string{"TERM", "TMUX"}, Over: []string{"PWD=/d"}, Pause: 40 * time.Millisecond,
	}
	data := Encode(append(env, ""), whole)
	gotEnv, got := Decode(data)
	if got == nil || !slices.Equal(gotEnv, env) {
		t.Fatalf("environment %q, order %v", gotEnv, got)
	}
	if got.Host != "h" || got.Dir != "/d" || got.Path != "/bin/sh" || got.Pause != whole.Pause || !slices.Equal(got.Argv, whole.Argv) ||
		!slices.Equal(got.Defaults, whole.Defaults) || !slices.Equal(got.FromPane, whole.FromPane) || !slices.Equal(got.Over, whole.Over) {
		t.Errorf("order %+v, want %+v", got, whole)
	}
	for n := len(Encode(env, nil)); n < len(data); n++ { // a part is no order, and the environment stays
		if gotEnv, got := Decode(data[:n]); got != nil || !slices.Equal(gotEnv, env) {
			t.Fatalf("of %d bytes: environment %q, order %+v", n, gotEnv, got)
		}
	}
	if _, got := Decode(append(slices.Clone(data), 'x')); got != nil {
		t.Errorf("an order with more behind it was taken: %+v", got)
	}
}

// What is started early gets the same environment as what the host starts.
func TestEnvironmentIsThatOfTheHost(t *testing.T) {
	t.Parallel()
	o := &Order{Defaults: []string{"TERM=xterm"}, FromPane: environ.FromPane(), Over: []string{"PWD=/d", "LEADLIGHT_HOST=h"}}
	for _, c := range []struct{ pane, file []string }{
		{[]string{"TMUX=/s,1,0", "TMUX_PANE=%1", "TERM=screen", "OTHER=1"}, []string{"A=1", "PWD=/else", "LEADLIGHT_HOST=other"}},
		{[]string{"TERM=screen"}, []string{"TERM=dumb", "A=", "A=2", "nothing", "=x"}},
		{nil, nil},
	} {
		own := environ.Set(o.Defaults, environ.Only(c.pane, o.FromPane...)...)
		want := environ.Set(environ.Set(own, c.file...), o.Over...)
		if got := o.environment(c.pane, c.file); !slices.Equal(got, want) {
			t.Errorf("environment of %q in %q: %q, want %q", c.file, c.pane, got, want)
		}
	}
}

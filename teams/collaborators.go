package teams

import (
	"log/slog"

	"github.com/leadlight-dev/leadlight/hooks"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Service carries out the verbs. Each belongs to one of its collaborators, which has one
// duty and knows only those that it names: they stand here from the ground up.
type Service struct {
	*common
	*registry
	*network
	*mailbox
	*incoming
	*observer
	*gate
	*tasklist
	*recorder
	*trees
	*starter
	*stopper
	*remover
	*restarter
	*approvals
	*messenger
	*viewer
	*lifecycle
	*doctor
}

// common is what all stand on: the stores, the panes, who asks and from where.
type common struct {
	base     string
	roster   store.Roster
	mail     store.Mail
	tasks    store.Tasks
	panes    *panes.Manager
	profiles profiles.Set
	caller   Caller
	limits   Limits
	cwd      string
	environ  []string
	leaving  <-chan struct{} // closed when the asker has to go; nil: never
	log      *slog.Logger
	trust    hooks.Trust
	machine  string
	machines Machines
	deaf     *deaf
	silence  *silence
	notice   func(string)
	progress func(name, what string) // told what is done to whom; nil: nobody is
}

// registry knows which teams there are, who is in them, and who may change them.
type registry struct{ *common }

// network asks other machines, and says what can be done where.
type network struct {
	*common
	*registry
}

// mailbox puts messages into boxes, in the caller's name.
type mailbox struct {
	*common
	*registry
}

// incoming is what has come into a box: messages, and the requests to the lead that a
// ledger keeps until they are answered.
type incoming struct {
	*common
	*registry
	*network
	*mailbox
}

// observer looks who is alive and what each does.
type observer struct {
	*common
	*registry
	*network
	*mailbox
	*incoming
}

// gate asks the hooks, which may object.
type gate struct {
	*common
	*registry
	*mailbox
}

// tasklist keeps the tasks, and tells those who are free of ready ones.
type tasklist struct {
	*common
	*registry
	*mailbox
	*observer
	*gate
}

// recorder writes down who has ended or is lost, and what follows for tasks and mail.
type recorder struct {
	*common
	*registry
	*mailbox
	*observer
	*tasklist
}

// trees keeps the git worktrees of teammates, and shows what they changed there.
type trees struct {
	*common
	*network
}

// starter starts teammates, in stages: see spawning.
type starter struct {
	*common
	*registry
	*network
	*mailbox
	*incoming
	*observer
	*gate
	*trees
}

// stopper ends teammates, in stages: see stopping.
type stopper struct {
	*common
	*registry
	*network
	*mailbox
	*observer
	*recorder
	*trees
}

// remover deletes teams, and what nobody owns any more.
type remover struct {
	*common
	*registry
	*network
	*observer
	*recorder
	*trees
	*stopper
}

// restarter ends a teammate and starts it again.
type restarter struct {
	*common
	*registry
	*network
	*mailbox
	*observer
	*starter
	*stopper
}

// approvals answers plans and requests for permission, and carries the answers out.
type approvals struct {
	*common
	*registry
	*mailbox
	*incoming
	*observer
	*starter
	*restarter
}

// messenger sends messages, also those that mean an answer.
type messenger struct {
	*common
	*registry
	*network
	*mailbox
	*incoming
	*observer
	*recorder
	*stopper
	*approvals
}

// viewer shows a teammate's terminal, types into it, and reads its logs.
type viewer struct {
	*common
	*registry
	*network
	*observer
}

// lifecycle makes teams from team files, takes over those whose lead is gone.
type lifecycle struct {
	*common
	*registry
	*mailbox
	*observer
	*tasklist
	*recorder
	*starter
	*remover
	*restarter
}

// doctor says what is wrong with teams, and mends what can be.
type doctor struct {
	*common
	*registry
	*observer
	*gate
	*remover
}

// assemble puts the collaborators on one common ground.
func assemble(c *common) *Service {
	rg := &registry{c}
	nw := &network{c, rg}
	mb := &mailbox{c, rg}
	in := &incoming{c, rg, nw, mb}
	ob := &observer{c, rg, nw, mb, in}
	g := &gate{c, rg, mb}
	tl := &tasklist{c, rg, mb, ob, g}
	re := &recorder{c, rg, mb, ob, tl}
	tr := &trees{c, nw}
	st := &starter{c, rg, nw, mb, in, ob, g, tr}
	sp := &stopper{c, rg, nw, mb, ob, re, tr}
	rm := &remover{c, rg, nw, ob, re, tr, sp}
	rs := &restarter{c, rg, nw, mb, ob, st, sp}
	ap := &approvals{c, rg, mb, in, ob, st, rs}
	ms := &messenger{c, rg, nw, mb, in, ob, re, sp, ap}
	v := &viewer{c, rg, nw, ob}
	lc := &lifecycle{c, rg, mb, ob, tl, re, st, rm, rs}
	d := &doctor{c, rg, ob, g, rm}
	return &Service{c, rg, nw, mb, in, ob, g, tl, re, tr, st, sp, rm, rs, ap, ms, v, lc, d}
}

// with returns the same verbs where change holds.
func (c *common) with(change func(*common)) *Service {
	in := *c
	change(&in)
	return assemble(&in)
}

package document

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/internal/rawjson"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// draft is a team while it is read or written: the file's name for it is the
// truth for addresses, the folder's for everything else.
type draft struct {
	store.Team
	name string      // the file's "name"
	ours *store.Ours // nil: no metadata.leadlight
}

// What a roster is read and written by is made once: each verb needs it several times.
var (
	teamTable = sync.OnceValue(teamFields)
	oursTable = sync.OnceValue(oursFields)
)

func teamFields() []Field[draft] {
	return []Field[draft]{
		Text("name", func(d *draft) *string { return &d.name }),
		Text("description", func(d *draft) *string { return &d.Description }),
		millis("createdAt", func(d *draft) *time.Time { return &d.CreatedAt }),
		Text("leadAgentId", func(d *draft) *string { return &d.LeadAgentID }),
		Text("leadSessionId", func(d *draft) *string { return &d.LeadSessionID }),
		nested("leadProcess", func(d *draft) **store.LeadProcess { return &d.LeadProcess }, leadProcessFields()),
		membersField(),
		metadata(func(d *draft) *map[string]json.RawMessage { return &d.Metadata },
			nested("leadlight", func(d *draft) **store.Ours { return &d.ours }, oursTable())),
	}
}

func oursFields() []Field[store.Ours] {
	return []Field[store.Ours]{
		Scalar("schema", func(o *store.Ours) *int { return &o.Schema }),
		Text("mailbox", func(o *store.Ours) *string { return &o.Mailbox }),
		Text("cwd", func(o *store.Ours) *string { return &o.Cwd }),
		Scalar("delegate", func(o *store.Ours) *bool { return &o.Delegate }),
		Scalar("once", func(o *store.Ours) *bool { return &o.Once }),
		Text("run", func(o *store.Ours) *string { return &o.Run }),
		Text("file", func(o *store.Ours) *string { return &o.File }),
		Text("assign", func(o *store.Ours) *string { return &o.Assign }),
		Scalar("hooks", func(o *store.Ours) *bool { return &o.Hooks }),
		stringList("unstarted", func(o *store.Ours) *[]string { return &o.Unstarted }),
	}
}

func leadProcessFields() []Field[store.LeadProcess] {
	return []Field[store.LeadProcess]{
		Scalar("pid", func(p *store.LeadProcess) *int { return &p.PID }),
		Text("pidSpace", func(p *store.LeadProcess) *string { return &p.PIDSpace }),
		millis("claimedAt", func(p *store.LeadProcess) *time.Time { return &p.ClaimedAt }),
		Text("procStart", func(p *store.LeadProcess) *string { return &p.ProcStart }),
	}
}

// Team is a roster that is open for editing.
type Team struct {
	name   string // of the team
	draft  *draft
	object *rawjson.Object
}

// ReadTeam reads the roster of the team called name. The error is a
// *rawjson.SyntaxError or fault.VersionTooNew.
func ReadTeam(name string, data []byte) (store.Team, error) {
	t, err := OpenTeam(name, data)
	if err != nil {
		return store.Team{}, err
	}
	return t.Read(), nil
}

// OpenTeam reads a roster for editing. It is then in the form of our newest schema.
func OpenTeam(name string, data []byte) (*Team, error) {
	o, err := rawjson.ParseObject(data)
	if err != nil {
		return nil, err
	}
	if err := migrate(o, name, migrations()); err != nil {
		return nil, err
	}
	d := new(draft)
	var odd []string
	d.Unknown, odd = Decode(o, d, teamTable())
	d.Odd = append(odd, d.Odd...)
	if d.ours != nil {
		d.Ours = *d.ours
	}
	return &Team{name, d, o}, nil
}

// NewTeam writes the roster of a team that we make.
func NewTeam(t store.Team) []byte {
	t.Ours.Schema = store.Schema
	if t.CreatedAt.IsZero() {
		t.CreatedAt = time.Now()
	}
	t.LeadAgentID = cmp.Or(t.LeadAgentID, store.Lead+"@"+t.Name)
	o := Compose(&draft{Team: t, name: t.Name, ours: &t.Ours}, teamTable())
	o.Set("schemaVersion", rawjson.Encode(1))
	return Bytes(o)
}

// Bytes lays an object out as Claude Code does.
func Bytes(o *rawjson.Object) []byte { return rawjson.Pretty(o.Raw(), "") }

// Bytes is the roster as it is now.
func (t *Team) Bytes() []byte { return Bytes(t.object) }

// Read returns the team, with what follows from what the roster says.
func (t *Team) Read() store.Team {
	d, out := t.draft, t.draft.Clone()
	out.Name = t.name
	if d.name != t.name {
		out.DisplayName = d.name
	}
	address := cmp.Or(out.DisplayName, t.name)
	for i := range out.Members {
		m := &out.Members[i]
		m.AgentID = cmp.Or(m.AgentID, m.Name+"@"+address)
		if m.Unsafe = !safe(m.Name); m.Unsafe {
			out.Warnings = append(out.Warnings, fmt.Sprintf("the name %q is not safe to use: the member is listed only", store.Shown(m.Name)))
		}
	}
	if d.name != "" && RosterFolder(d.name) != t.name && d.name != t.name {
		out.Warnings = append(out.Warnings, fmt.Sprintf("the roster calls the team %q; its folder's name %q counts", store.Shown(d.name), t.name))
	} else if out.DisplayName != "" {
		out.Warnings = append(out.Warnings, fmt.Sprintf("the roster calls the team %q: Claude Code keeps its mail and tasks in folders of that name", store.Shown(d.name)))
	}
	if out.LeadAgentID == "" && out.Member(store.Lead) == nil {
		out.Warnings = append(out.Warnings, "the roster names no lead")
	}
	return out
}

func safe(name string) bool {
	_, err := store.CheckAddress(name)
	return err == nil
}

// Edit applies change, writes the differences into the roster, and tells whether there are any.
func (t *Team) Edit(change func(*store.Team) error) (changed bool, err error) {
	d, was := t.draft, t.Read()
	now := was.Clone()
	if err := change(&now); err != nil {
		return false, err
	}
	if err := store.CheckMembers(was.Members, now.Members); err != nil {
		return false, err
	}
	old, next := &draft{Team: was, name: d.name, ours: d.ours}, &draft{Team: now, name: d.name, ours: d.ours}
	if now.DisplayName != was.DisplayName {
		next.name = now.DisplayName
	}
	if !reflect.DeepEqual(now.Ours, was.Ours) {
		next.ours = &now.Ours
	}
	before := t.object.Raw()
	Amend(t.object, old, next, teamTable())
	return !bytes.Equal(before, t.object.Raw()), nil
}

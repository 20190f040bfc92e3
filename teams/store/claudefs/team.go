package claudefs

import (
	"encoding/json"
	"fmt"
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

func teamFields() []field[draft] {
	return []field[draft]{
		text("name", func(d *draft) *string { return &d.name }),
		text("description", func(d *draft) *string { return &d.Description }),
		millis("createdAt", func(d *draft) *time.Time { return &d.CreatedAt }),
		text("leadAgentId", func(d *draft) *string { return &d.LeadAgentID }),
		text("leadSessionId", func(d *draft) *string { return &d.LeadSessionID }),
		nested("leadProcess", func(d *draft) **store.LeadProcess { return &d.LeadProcess }, leadProcessFields()),
		membersField(),
		metadata(func(d *draft) *map[string]json.RawMessage { return &d.Metadata },
			nested("leadlight", func(d *draft) **store.Ours { return &d.ours }, oursFields())),
	}
}

func oursFields() []field[store.Ours] {
	return []field[store.Ours]{
		scalar("schema", func(o *store.Ours) *int { return &o.Schema }),
		text("mailbox", func(o *store.Ours) *string { return &o.Mailbox }),
		text("cwd", func(o *store.Ours) *string { return &o.Cwd }),
		scalar("delegate", func(o *store.Ours) *bool { return &o.Delegate }),
		scalar("once", func(o *store.Ours) *bool { return &o.Once }),
		text("file", func(o *store.Ours) *string { return &o.File }),
	}
}

func leadProcessFields() []field[store.LeadProcess] {
	return []field[store.LeadProcess]{
		scalar("pid", func(p *store.LeadProcess) *int { return &p.PID }),
		text("pidSpace", func(p *store.LeadProcess) *string { return &p.PIDSpace }),
		millis("claimedAt", func(p *store.LeadProcess) *time.Time { return &p.ClaimedAt }),
		text("procStart", func(p *store.LeadProcess) *string { return &p.ProcStart }),
	}
}

// checkTeam tells a whole roster from a torn one.
func checkTeam(data []byte) error {
	_, err := rawjson.ParseObject(data)
	return err
}

// parseTeam reads a roster. The error is a *rawjson.SyntaxError or
// fault.VersionTooNew.
func parseTeam(folder string, data []byte) (store.Team, error) {
	d, _, err := openTeam(folder, data)
	if err != nil {
		return store.Team{}, err
	}
	return d.finish(folder), nil
}

// openTeam reads a roster for editing. The object is already in the form of our
// newest schema.
func openTeam(folder string, data []byte) (*draft, *rawjson.Object, error) {
	o, err := rawjson.ParseObject(data)
	if err != nil {
		return nil, nil, err
	}
	if err := migrate(o, folder, migrations()); err != nil {
		return nil, nil, err
	}
	d := new(draft)
	d.Unknown = decode(o, d, teamFields())
	return d, o, nil
}

// finish fills what follows from the rest.
func (d *draft) finish(folder string) store.Team {
	t := d.Team.Clone()
	t.Name = folder
	if d.name != folder {
		t.DisplayName = d.name
	}
	if d.ours != nil {
		t.Ours = *d.ours
	}
	address := t.DisplayName
	if address == "" {
		address = folder
	}
	for i := range t.Members {
		m := &t.Members[i]
		if m.AgentID == "" {
			m.AgentID = m.Name + "@" + address
		}
		if m.Unsafe = !safe(m.Name); m.Unsafe {
			t.Warnings = append(t.Warnings, fmt.Sprintf("the name %q is not safe to use: the member is listed only", store.Shown(m.Name)))
		}
	}
	if d.name != "" && lowerCase(d.name) != folder && d.name != folder {
		t.Warnings = append(t.Warnings, fmt.Sprintf("the roster calls the team %q; its folder's name %q counts", store.Shown(d.name), folder))
	} else if t.DisplayName != "" {
		t.Warnings = append(t.Warnings, fmt.Sprintf("the roster calls the team %q: Claude Code keeps its mail and tasks in folders of that name", store.Shown(d.name)))
	}
	if t.LeadAgentID == "" && t.Member(store.Lead) == nil {
		t.Warnings = append(t.Warnings, "the roster names no lead")
	}
	return t
}

func safe(name string) bool {
	_, err := store.CheckAddress(name)
	return err == nil
}

// edit applies change to a team that was read from o, and writes the differences
// into o.
func (d *draft) edit(o *rawjson.Object, folder string, change func(*store.Team) error) error {
	was := d.finish(folder)
	now := was.Clone()
	if err := change(&now); err != nil {
		return err
	}
	if err := store.CheckMembers(was.Members, now.Members); err != nil {
		return err
	}
	old, next := &draft{Team: was, name: d.name, ours: d.ours}, &draft{Team: now, name: d.name, ours: d.ours}
	if now.DisplayName != was.DisplayName {
		next.name = now.DisplayName
	}
	if now.Ours != was.Ours {
		next.ours = &now.Ours
	}
	amend(o, old, next, teamFields())
	return nil
}

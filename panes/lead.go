package panes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/uuid"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/signals"
)

// TeammateLink is the name of the link to this program by which a Claude Code that leads
// starts its teammates.
const TeammateLink = "leadlight-teammate"

// leadPrefix begins the names of the folders of leads, leadRecord is the record in one.
const (
	leadPrefix = "lead-"
	leadRecord = "lead.json"
)

// Lead is what the teammates of a Claude Code that leadlight started have to know.
// Its file is as private as the environment in it, and lies in a folder of its own,
// beside the link by which the client finds us: so a teammate finds it by the name it
// was called by, whatever variables came through.
type Lead struct {
	Process signals.Identity `json:"process"` // who waits for the client, and removes the folder in the end
	Base    string           `json:"base"`
	Client  []string         `json:"client"`  // the program itself, and what its profile puts behind it
	Hook    string           `json:"hook"`    // value of --settings that is the lead's alone; "": none
	Environ []string         `json:"environ"` // the lead's
}

// OpenLead makes the folder of a lead with the link, and returns its path. close
// removes it.
func (m *Manager) OpenLead() (folder string, close func() error, err error) {
	name := leadPrefix + uuid.NewString()
	folder = filepath.Join(m.runDir(), name)
	if err := files.MakePrivate(m.opt.Runtime); err != nil {
		return "", nil, err
	}
	err = os.MkdirAll(folder, 0o700)
	made, proof := files.In(m.runDir(), name, fs.ModeDir)
	if err = errors.Join(err, proof); err == nil {
		err = os.Symlink(m.opt.Executable, filepath.Join(folder, TeammateLink))
	}
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("make the folder of the lead: %w", err), made.Remove())
	}
	return folder, made.Remove, nil
}

// WriteLead writes what is to be known into the folder of a lead.
func WriteLead(folder string, l Lead) error {
	data, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("encode what teammates have to know: %w", err)
	}
	if err := os.WriteFile(filepath.Join(folder, leadRecord), data, 0o600); err != nil {
		return fmt.Errorf("write what teammates have to know: %w", err)
	}
	return nil
}

// ReadLead reads what WriteLead wrote.
func ReadLead(folder string) (Lead, error) {
	var l Lead
	data, err := files.ReadFile(filepath.Join(folder, leadRecord), 0)
	if err == nil {
		err = json.Unmarshal(data, &l)
	}
	if err == nil {
		err = l.check()
	}
	if err != nil {
		return Lead{}, fmt.Errorf("read what the lead left for its teammates: %w", err)
	}
	return l, nil
}

// check refuses what no lead writes.
func (l Lead) check() error {
	switch {
	case l.Process.Check() != nil:
		return l.Process.Check()
	case !filepath.IsAbs(l.Base):
		return fmt.Errorf("its base directory %.200q is not absolute", l.Base)
	case len(l.Client) == 0 || l.Client[0] == "":
		return errors.New("it names no client")
	}
	return nil
}

package dial

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/rawjson"
)

// Machine is the record of what this machine has joined. It holds no secret, only the
// paths of files that do.
type Machine struct {
	Schema int    `json:"schema"`
	Name   string `json:"name"`
	Engine string `json:"engine"`          // its address
	ID     string `json:"id"`              // of what is kept there
	Owner  string `json:"owner,omitempty"` // made when it joined; no other machine has it
	Access Access `json:"access"`
}

// Access names the files by which a machine gets into an engine.
type Access struct {
	Creds string `json:"creds,omitempty"`
	NKey  string `json:"nkey,omitempty"`
	Token string `json:"token,omitempty"`
	CA    string `json:"ca,omitempty"`
	Cert  string `json:"cert,omitempty"`
	Key   string `json:"key,omitempty"`
}

// OpenToAll are the files with a secret that every user of this machine may read.
func (a Access) OpenToAll() (paths []string) {
	for _, path := range []string{a.Creds, a.NKey, a.Token, a.Key} {
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o004 != 0 {
			paths = append(paths, path)
		}
	}
	return paths
}

// machineSchema is the version of the record that this program writes.
const machineSchema = 1

// maxMachine is the longest record that is read.
const maxMachine = 1 << 16

// MachineFile is the record.
func (p Paths) MachineFile() string { return filepath.Join(p.State, p.Key+".machine.json") }

// Joined reads the record; nil if this machine has joined nothing.
func (p Paths) Joined() (*Machine, error) {
	data, err := files.ReadFile(p.MachineFile(), maxMachine)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, noState("read what this machine has joined", err)
	}
	m := &Machine{}
	err = rawjson.Strict(data, m)
	var newer struct {
		Schema int `json:"schema"`
	}
	switch {
	case json.Unmarshal(data, &newer) == nil && newer.Schema > machineSchema:
		return nil, fault.New(fault.VersionTooNew, "%s was written by a newer leadlight", p.MachineFile()).WithHint("update leadlight, or leadlight machine leave")
	case err == nil && (m.Schema != machineSchema || m.Name == "" || m.Engine == "" || m.ID == ""):
		err = errors.New("name, engine or id are missing")
		fallthrough
	case err != nil:
		return nil, fault.New(fault.CorruptFile, "%s is damaged: %w", p.MachineFile(), err).WithHint("leadlight machine leave removes it; then join again")
	}
	return m, nil
}

// Still tells whether the record is as it was. One that cannot be read is.
func (p Paths) Still(was *Machine) bool {
	now, err := p.Joined()
	return err != nil || now == was || now != nil && was != nil && *now == *was
}

// Join writes the record.
func (p Paths) Join(ctx context.Context, m Machine) error {
	m.Schema = machineSchema
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := files.MakeFolders(p.State); err != nil {
		return noState("make the state folder", err)
	}
	state, err := files.Open(p.State)
	if err != nil {
		return err
	}
	defer state.Close()
	return state.Write(ctx, filepath.Base(p.MachineFile()), append(data, '\n'))
}

// Leave removes the record, and tells whether there was one.
func (p Paths) Leave() (bool, error) {
	err := files.Remove(p.State, filepath.Base(p.MachineFile()), 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

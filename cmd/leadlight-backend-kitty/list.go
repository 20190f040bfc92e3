package main

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// The answer to ls, as far as it is used: OS windows with tabs with windows.
type osWindow struct {
	ID   int64 `json:"id"`
	Tabs []tab `json:"tabs"`
}

type tab struct {
	ID      int64    `json:"id"`
	Windows []window `json:"windows"`
	// The windows that were active, the present one last.
	History []int64 `json:"active_window_history"`
}

type window struct {
	ID      int64             `json:"id"`
	PID     int               `json:"pid"`
	Columns int               `json:"columns"`
	Lines   int               `json:"lines"`
	Env     map[string]string `json:"env"`
}

// ListAll returns all windows of kitty.
func (b *Backend) ListAll(ctx context.Context) ([]backend.Pane, error) {
	data, err := b.call(ctx, "ls", map[string]any{})
	if err != nil {
		return nil, err
	}
	tree, err := parseTree(data)
	if err != nil {
		return nil, fault.New(fault.BackendUnavailable, "kitty answered ls with something else: %w", err)
	}
	return b.closeLate(ctx, panesOf(tree, b.server())), nil
}

// parseTree reads the data of ls, which is JSON in a JSON string.
func parseTree(data json.RawMessage) ([]osWindow, error) {
	var text string
	var tree []osWindow
	if err := json.Unmarshal(data, &text); err != nil {
		return nil, err
	}
	return tree, json.Unmarshal([]byte(text), &tree)
}

func panesOf(tree []osWindow, server string) []backend.Pane {
	var list []backend.Pane
	for _, o := range tree {
		for _, t := range o.Tabs {
			cols, lines := extent(t.Windows)
			for _, w := range t.Windows {
				list = append(list, backend.Pane{
					ID: backend.ID(strconv.FormatInt(w.ID, 10)), Window: "t" + strconv.FormatInt(t.ID, 10), Session: "o" + strconv.FormatInt(o.ID, 10),
					Server: server, PID: w.PID, Width: w.Columns, Height: w.Lines, WindowWidth: cols, WindowHeight: lines,
					Active: len(t.History) > 0 && t.History[len(t.History)-1] == w.ID, Mark: markOf(w.Env),
				})
			}
		}
	}
	return list
}

// extent is about how large a tab is: kitty tells only the sizes of its windows. It is
// never taken for larger than it is.
func extent(windows []window) (cols, lines int) {
	area := 0
	for _, w := range windows {
		cols = max(cols, w.Columns)
		area += w.Columns * w.Lines
	}
	if cols == 0 {
		return 0, 0
	}
	return cols, area / cols
}

// markOf reads the mark that a window was opened with; what is damaged is none.
func markOf(env map[string]string) backend.Mark {
	var m backend.Mark
	if json.Unmarshal([]byte(env[markVariable]), &m) != nil || env[hashVariable] != hashOf(m) {
		return backend.Mark{}
	}
	return m
}

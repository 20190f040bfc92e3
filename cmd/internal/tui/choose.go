package tui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// chooser asks which team is meant.
type chooser struct {
	teams         []api.TeamSummary
	at            int
	width, height int
	chosen        string
}

// Choose lets a person choose one of several teams, "" if they leave.
func Choose(ctx context.Context, o Options, list []api.TeamSummary) (string, error) {
	c := &chooser{teams: list, width: 80, height: 24}
	run := tea.NewProgram(c, tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out),
		tea.WithEnvironment(o.Environ), tea.WithoutSignalHandler())
	defer quitBySignal(run)()
	_, err := run.Run()
	return c.chosen, err
}

// Init implements tea.Model.
func (c *chooser) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (c *chooser) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		c.width, c.height = msg.Width, msg.Height
	case tea.MouseWheelMsg:
		c.move(map[tea.MouseButton]int{tea.MouseWheelUp: -1, tea.MouseWheelDown: 1}[msg.Button])
	case tea.MouseClickMsg:
		if at := c.first() + msg.Y - 2; msg.Y >= 2 && at < len(c.teams) {
			c.at = at
			return c, c.choose()
		}
	case tea.KeyPressMsg:
		switch msg.String() {
		case "up", "k":
			c.move(-1)
		case "down", "j":
			c.move(1)
		case "enter":
			return c, c.choose()
		case "ctrl+z":
			return c, tea.Exec(&suspension{}, nil)
		case "q", "esc", "ctrl+c":
			return c, tea.Quit
		}
	}
	return c, nil
}

func (c *chooser) move(by int) { c.at = max(0, min(c.at+by, len(c.teams)-1)) }

func (c *chooser) choose() tea.Cmd {
	c.chosen = c.teams[c.at].Name
	return tea.Quit
}

// rows is how many teams have room.
func (c *chooser) rows() int { return max(1, c.height-3) }

func (c *chooser) first() int { return max(0, c.at-c.rows()+1) }

// View implements tea.Model.
func (c *chooser) View() tea.View {
	lines := []string{reverse(fit(fmt.Sprintf(" leadlight · %d teams: which one?", len(c.teams)), c.width)), ""}
	width := 24
	for _, t := range c.teams {
		width = max(width, min(ansi.StringWidth(plain(t.Name)), c.width-20)) // beside mark and number
	}
	for i, t := range c.teams[c.first():min(len(c.teams), c.first()+c.rows())] {
		mark, name := " ", fit(plain(t.Name), width)
		if c.first()+i == c.at {
			mark, name = "▸", bold(name)
		}
		lines = append(lines, fit(fmt.Sprintf("%s %s  teammates: %2d  %s", mark, name, t.Teammates, faint(plain(t.Description))), c.width))
	}
	v := tea.NewView(strings.Join(append(fill(lines, c.width, c.height-1), faint(fit(" ↑↓ select · Enter open · q quit", c.width))), "\n"))
	v.AltScreen, v.WindowTitle, v.MouseMode = true, "leadlight", tea.MouseModeCellMotion
	return v
}

package teammate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// ended says how the agent ended.
func (m *teammate) ended(exit host.Exit) panes.ExitRecord {
	e := panes.ExitRecord{State: api.StateStopped, ExitCode: &exit.Code, Signal: exit.Signal, Leftovers: exit.Leftovers, At: time.Now()}
	closing := m.closing()
	switch {
	case closing:
		e.Reason = m.host.Cause()
	case m.agreed.Load():
		e.Reason = "agreed to shut down"
	case exit.Signal != "":
		e.Reason = "was ended by " + exit.Signal
	default:
		e.Reason = fmt.Sprintf("exited with %d", exit.Code)
	}
	if (exit.Signal != "" || exit.Code != 0) && !closing && !m.agreed.Load() && !m.asked.Load() {
		e.State = api.StateFailed
	}
	if e.State == api.StateFailed {
		e.Tail = lastLines(m.host.Tail(5))
	}
	return e
}

func failed(err error) panes.ExitRecord {
	f := fault.Of(err)
	return panes.ExitRecord{State: api.StateFailed, Reason: "did not start: " + f.Message, Code: string(f.Code), Hint: f.Hint, At: time.Now()}
}

// end records the exit, notifies the lead and closes the host. The record comes
// first: whoever looks from then on sees an exit, not a lost host.
func (m *teammate) end(ctx context.Context, e panes.ExitRecord) (int, error) {
	ctx = context.WithoutCancel(ctx)
	if m.terminalDied == nil && m.host != nil && m.closing() && m.host.Cause() == host.CausePaneClosed {
		m.terminalDied = new(m.o.Panes.TerminalDied(ctx, m.launch))
	}
	if m.terminalDied != nil && *m.terminalDied {
		e.State, e.Reason = api.StateLost, "its terminal has ended"
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	e.At = time.Now()
	e.Untold = m.host != nil && m.host.Recorded() && e.State == api.StateStopped
	m.record.Ended = &e
	if m.record.Host == "" {
		m.record.Host, m.record.Socket, m.record.StartedAt = m.launch.Host, m.launch.Socket, time.Now()
		m.record.Process, _ = signals.Self()
	}
	errs := []error{m.o.Panes.Records().WriteHost(ctx, m.o.Team, m.o.Agent, m.record)}
	if !e.Untold {
		errs = append(errs, m.tellOthers(ctx, e))
	}
	if m.host != nil {
		if !m.announced { // nothing was started
			errs = append(errs, m.removeEnvironment())
		}
		if e.State == api.StateFailed {
			m.print("%s %s; leadlight logs %s shows all of it", m.o.Agent, e.Reason, m.o.Agent)
		}
		m.label.close(e.State)
		m.keepAfterFailure(e)
		errs = append(errs, m.host.Close())
	}
	code := 0
	if e.State == api.StateFailed && (m.launch.LedByUs || m.launch.ForeignPane != "") { // another lead's roster forgets ours, so its pane goes, too
		if code = 1; e.ExitCode != nil && *e.ExitCode > 0 {
			code = *e.ExitCode
		}
	}
	switch {
	case m.closedForUs(e):
		code = keepPane
	case code == 0 || panes.Lingers(m.launch.Backend): // else the pane stays, to be read
		m.o.Panes.Leave(ctx, m.launch, backend.ID(m.record.Pane))
	}
	return code, errors.Join(errs...)
}

// keepPane is an exit status with which a pane stays.
const keepPane = 1

// closedForUs tells whether who ends this host closes its pane, together with those of the
// set: a pane that went by itself would make the terminal arrange the others again.
func (m *teammate) closedForUs(e panes.ExitRecord) bool {
	return e.Untold && m.launch.ForeignPane == "" && !panes.Lingers(m.launch.Backend)
}

// tellOthers writes the end into the roster and tells the lead of it.
func (m *teammate) tellOthers(ctx context.Context, e panes.ExitRecord) error {
	var errs []error
	spawners := m.spawnerReports(ctx, e)
	if !spawners {
		errs = append(errs, m.notifyEnd(ctx, e)) // while the roster, which may forget us, still names us
	}
	before, err := m.o.Service.RecordExit(ctx, m.o.Team, m.o.Agent, m.launch.Host, e)
	if errs = append(errs, err); spawners && before != "" && before != api.StateStarting { // it has just said that all is well
		errs = append(errs, m.notifyEnd(ctx, e))
	}
	return errors.Join(errs...)
}

// keepAfterFailure keeps a host after a failure where the terminal does not keep the pane: its screen can be read until it is sent away. One that failed at once is the
// spawner's to report, and another lead's roster forgets it.
func (m *teammate) keepAfterFailure(e panes.ExitRecord) {
	if !panes.Lingers(m.launch.Backend) || e.State != api.StateFailed || e.Code != "" || !m.launch.LedByUs {
		return
	}
	m.host.SetState(host.Shown{State: e.State, Reason: e.Reason})
	<-m.host.Closing()
}

// spawnerReports tells whether whoever starts this teammate still watches it and will say
// that it has failed.
func (m *teammate) spawnerReports(ctx context.Context, e panes.ExitRecord) bool {
	return e.State == api.StateFailed && m.launch.ForeignPane == "" && m.o.Service.BeingStarted(ctx, m.o.Team)
}

// notifyEnd tells the lead that its teammate has ended. The lead of a foreign member is
// told of failures only: it sees the rest itself.
func (m *teammate) notifyEnd(ctx context.Context, e panes.ExitRecord) error {
	if m.launch.ForeignPane != "" && e.State != api.StateFailed {
		return nil
	}
	return m.o.Service.TellEnd(ctx, m.o.Team, e)
}

package api

import (
	"encoding/json"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// HelloParams are the parameters of hello.
type HelloParams struct {
	Version string `json:"version,omitempty"` // of the caller
}

// Hello is who answers.
type Hello struct {
	Version  string `json:"version"`  // of leadlight
	Protocol int    `json:"protocol"` // of the API
	PID      int    `json:"pid"`
	Base     string `json:"base"`
}

// DaemonStatus is the answer of daemon status.
type DaemonStatus struct {
	PID       int    `json:"pid"`
	Socket    string `json:"socket"`
	Version   string `json:"version"`
	UptimeMs  int64  `json:"uptimeMs"`
	Base      string `json:"base"`
	OnDemand  bool   `json:"onDemand"` // it ends by itself
	Clients   int    `json:"clients"`
	Seq       uint64 `json:"seq"` // of the last event
	Teams     int    `json:"teams"`
	Members   int    `json:"members"` // teammates, the ended ones included
	Live      int    `json:"live"`    // teammates that are not known to have ended
	Tasks     int    `json:"tasks"`
	Mail      int    `json:"mail"` // messages in the boxes
	Database  string `json:"database,omitempty"`
	Log       string `json:"log,omitempty"`
	Watching  string `json:"watching,omitempty"`  // "events", or "polling" where at least some do not come
	LastError string `json:"lastError,omitempty"` // of watching or of writing history; what is told may have gaps
}

// EventFilter picks events; the zero value picks all.
type EventFilter struct {
	Team  string   `json:"team,omitempty"`
	Types []string `json:"types,omitempty"` // names, or the beginnings of names such as team:task
}

// EventsParams are the parameters of events.list.
type EventsParams struct {
	EventFilter
	After   uint64 `json:"after,omitempty"`   // only those with a greater seq
	SinceMs int64  `json:"sinceMs,omitempty"` // only those not older than that
	Limit   int    `json:"limit,omitempty"`   // at most so many, the first ones; 1000
}

// Events is the answer of events.list.
type Events struct {
	Events []json.RawMessage `json:"events"` // each as the command events prints it
	Last   uint64            `json:"last"`   // seq of the last event there was; more may match if it is not the last of these
	More   bool              `json:"more"`   // there were more than the limit
}

// SubscribeParams are the parameters of events.subscribe.
type SubscribeParams struct {
	EventFilter
	After   *uint64 `json:"after,omitempty"`   // send first what came after that seq; absent: only what comes
	SinceMs int64   `json:"sinceMs,omitempty"` // or what is not older than that
}

// Subscribed is the answer of events.subscribe: everything with a greater seq
// than Seq follows, and before it what was asked for by after or sinceMs.
type Subscribed struct {
	Seq   uint64     `json:"seq"`
	Teams []Snapshot `json:"teams"` // as they were at Seq

	Observed []Observed `json:"observed,omitempty"` // and what was seen in streams
}

// Observed is a team as it is seen in the stream of a worker.
type Observed struct {
	Team   string          `json:"team"`   // the worker's own
	Member string          `json:"member"` // the worker
	Run    string          `json:"run"`    // id of one run of its command
	Task   string          `json:"task,omitempty"`
	State  json.RawMessage `json:"state"` // as the command observe --emit state prints it; null: no team any more
}

// ObservedParams are the parameters of observed.list.
type ObservedParams struct {
	Team string `json:"team,omitempty"` // of the workers; absent: all
}

// Snapshot is one team at a moment.
type Snapshot struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Members     []Member `json:"members"`
	Tasks       []Task   `json:"tasks"`
}

// EventsClosed is the last word on a subscription.
type EventsClosed struct {
	Error fault.Error `json:"error"`
}

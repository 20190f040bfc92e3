package api

// Machine is a computer that has joined an engine (machine ls).
type Machine struct {
	Name      string   `json:"name"`
	State     string   `json:"state"` // active, or silent: it has said nothing for 15 seconds
	Seen      *Time    `json:"seen"`  // by the engine's clock
	Version   string   `json:"version"`
	Teammates int      `json:"teammates"` // that run there, by the rosters
	Load      float64  `json:"load"`
	Terminals []string `json:"terminals"`
	Engine    string   `json:"engine"`
	This      bool     `json:"this"` // it is the one that answers
}

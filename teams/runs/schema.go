package runs

import (
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/db"
)

// Names that are there from the start.
const (
	Workspace = "default"
	LeadRole  = api.LeadRole
)

// Component is the part of the database that is kept here. Moments are
// milliseconds since 1970.
func Component() db.Component {
	return db.Component{Name: "runs", Steps: []string{ground + contract + beside, commands, hooks, history, definitions, costs}}
}

// ground is what the contract's tables refer to.
const ground = `
CREATE TABLE workspaces (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL
);
CREATE TABLE agent_roles (
  id TEXT PRIMARY KEY,
  profile TEXT NOT NULL,
  spec TEXT NOT NULL DEFAULT '{}', -- how it is run, beyond the profile
  created_at INTEGER NOT NULL
);
CREATE TABLE tasks (
  id TEXT PRIMARY KEY,
  parent_task_id TEXT REFERENCES tasks(id),
  title TEXT NOT NULL,
  assignee TEXT, -- the teammate
  status TEXT NOT NULL, -- as an item's
  result_summary TEXT,
  attempts INTEGER NOT NULL DEFAULT 1,
  started_at INTEGER NOT NULL,
  completed_at INTEGER
);
CREATE INDEX idx_tasks_parent ON tasks(parent_task_id);
INSERT INTO workspaces VALUES ('default', 'default', 0);
INSERT INTO agent_roles VALUES ('lead', '', '{}', 0);
`

// contract is what is agreed with those who read the tables themselves.
const contract = `
CREATE TABLE agent_teams (
  id TEXT PRIMARY KEY,
  workspace_id TEXT NOT NULL REFERENCES workspaces(id),
  name TEXT NOT NULL,
  description TEXT,
  lead_agent_role_id TEXT NOT NULL REFERENCES agent_roles(id),
  max_parallel_agents INTEGER NOT NULL DEFAULT 4,
  default_model_preference TEXT,
  default_personality TEXT,
  is_active INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);
CREATE INDEX idx_agent_teams_workspace ON agent_teams(workspace_id);
CREATE TABLE agent_team_members (
  id TEXT PRIMARY KEY,
  team_id TEXT NOT NULL REFERENCES agent_teams(id) ON DELETE CASCADE,
  agent_role_id TEXT NOT NULL REFERENCES agent_roles(id),
  member_order INTEGER NOT NULL DEFAULT 0,
  is_required INTEGER NOT NULL DEFAULT 0,
  role_guidance TEXT,
  created_at INTEGER NOT NULL,
  UNIQUE(team_id, agent_role_id)
);
CREATE INDEX idx_team_members_team ON agent_team_members(team_id);
CREATE TABLE agent_team_runs (
  id TEXT PRIMARY KEY,
  team_id TEXT NOT NULL REFERENCES agent_teams(id),
  root_task_id TEXT NOT NULL REFERENCES tasks(id),
  status TEXT NOT NULL, -- pending|running|paused|completed|failed|cancelled
  started_at INTEGER NOT NULL,
  completed_at INTEGER,
  error TEXT,
  summary TEXT
);
CREATE INDEX idx_team_runs_team ON agent_team_runs(team_id);
CREATE INDEX idx_team_runs_root_task ON agent_team_runs(root_task_id);
CREATE TABLE agent_team_items (
  id TEXT PRIMARY KEY,
  team_run_id TEXT NOT NULL REFERENCES agent_team_runs(id) ON DELETE CASCADE,
  parent_item_id TEXT REFERENCES agent_team_items(id),
  title TEXT NOT NULL,
  description TEXT,
  owner_agent_role_id TEXT REFERENCES agent_roles(id),
  source_task_id TEXT REFERENCES tasks(id),
  status TEXT NOT NULL, -- todo|in_progress|blocked|done|failed
  result_summary TEXT,
  sort_order INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);
CREATE INDEX idx_team_items_run ON agent_team_items(team_run_id);
CREATE INDEX idx_team_items_source_task ON agent_team_items(source_task_id);
`

// beside is what the contract has no column for.
const beside = `
CREATE INDEX idx_team_items_order ON agent_team_items(team_run_id, sort_order, id);
CREATE INDEX idx_team_items_status ON agent_team_items(team_run_id, status);
CREATE INDEX idx_team_items_parent ON agent_team_items(parent_item_id);
CREATE TABLE item_blockers (
  item_id TEXT NOT NULL REFERENCES agent_team_items(id) ON DELETE CASCADE,
  blocker_id TEXT NOT NULL REFERENCES agent_team_items(id) ON DELETE CASCADE,
  PRIMARY KEY (item_id, blocker_id)
) WITHOUT ROWID;
CREATE INDEX idx_item_blockers ON item_blockers(blocker_id);
CREATE TABLE run_places (
  run_id TEXT PRIMARY KEY REFERENCES agent_team_runs(id) ON DELETE CASCADE,
  live_team TEXT NOT NULL, -- whose teammates work on it
  cwd TEXT NOT NULL,
  scheduled INTEGER NOT NULL -- 0: another process carries it out, this is its record
) WITHOUT ROWID;
CREATE TABLE run_members (
  run_id TEXT NOT NULL REFERENCES agent_team_runs(id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  agent_role_id TEXT NOT NULL REFERENCES agent_roles(id),
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  PRIMARY KEY (run_id, name)
) WITHOUT ROWID;
`

// commands are the lines that workers run for single items.
const commands = `
CREATE TABLE item_commands (
  item_id TEXT PRIMARY KEY REFERENCES agent_team_items(id) ON DELETE CASCADE,
  line TEXT NOT NULL
) WITHOUT ROWID;
`

// hooks are the programs that are asked in the runs of a team, a list in JSON.
const hooks = `
CREATE TABLE team_hooks (
  team_id TEXT PRIMARY KEY REFERENCES agent_teams(id) ON DELETE CASCADE,
  hooks TEXT NOT NULL
) WITHOUT ROWID;
`

// history is what a later change of a run or an item must not hide: whether the run was
// begun, and which item a task was for.
const history = `
ALTER TABLE run_places ADD COLUMN begun INTEGER NOT NULL DEFAULT 0;
UPDATE run_places SET begun = 1 WHERE run_id IN (SELECT run_id FROM run_members);
ALTER TABLE tasks ADD COLUMN item_id TEXT;
UPDATE tasks SET item_id = (SELECT i.id FROM agent_team_items i WHERE i.source_task_id = tasks.id);
`

// definitions are the teams as they were described last, in JSON.
const definitions = `
CREATE TABLE team_definitions (
  team_id TEXT PRIMARY KEY REFERENCES agent_teams(id) ON DELETE CASCADE,
  definition TEXT NOT NULL
) WITHOUT ROWID;
`

// costs is what the work on a task has cost, api.Usage in JSON, where the agent told.
const costs = `
ALTER TABLE tasks ADD COLUMN usage TEXT;
`

package interop_test

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
)

type object = map[string]any

func text(s string) move {
	return func(*request) []block { return []block{{Type: "text", ID: newID(), Text: s}} }
}

func newID() string { return strings.ReplaceAll(uuid.NewString(), "-", "") }

// slowly says something after a while.
func slowly(d time.Duration, s string) move {
	return func(r *request) []block {
		time.Sleep(d)
		return text(s)(r)
	}
}

// refuse makes the request fail.
func refuse(why string) move {
	return func(*request) []block { return []block{{Type: refusal, Text: why}} }
}

// shell calls the agent's tool that runs a command, whatever it is called. outside asks
// to run it outside the sandbox, where there is one.
func shell(command string, outside bool) move {
	return func(r *request) []block {
		t, ok := r.tool("exec", "exec_command", "shell_command", "shell", "run_shell_command", "bash", "Bash")
		if !ok {
			return text("There is no tool that runs a command.")(r)
		}
		why := object{}
		if outside {
			why = object{"sandbox_permissions": "require_escalated", "justification": "May it run outside the sandbox?"}
		}
		b := block{Type: toolUse, ID: "toolu_" + newID(), Name: t.Name, namespace: t.namespace}
		if t.custom { // it takes a program that calls the tools
			why["cmd"] = command
			args, _ := json.Marshal(why)
			b.raw = "const r = await tools.exec_command(" + string(args) + "); text(r.output ?? r);"
			return []block{b}
		}
		why["cmd"], why["command"], why["description"] = command, command, "run it"
		maps.DeleteFunc(why, func(key string, _ any) bool { // one refuses what its tool does not know
			_, has := t.Schema.Properties[key]
			return !has
		})
		b.Input = why
		return []block{b}
	}
}

// write calls the agent's tool that makes a file; one that has none runs a command.
func write(file string) move {
	return func(r *request) []block {
		t, ok := r.tool("write_file", "write", "Write", "create")
		patch := "*** Begin Patch\n*** Add File: " + file + "\n+edited\n*** End Patch\n"
		if patches, is := r.tool("apply_patch"); !ok && is && patches.custom {
			return []block{{Type: toolUse, ID: "toolu_" + newID(), Name: patches.Name, raw: patch}}
		} else if !ok && is {
			t, ok = patches, true
		}
		if !ok {
			return shell("touch "+filepath.Base(file), false)(r)
		}
		input := object{"file_path": file, "filePath": file, "path": file, "content": "edited\n", "file_text": "edited\n", "input": patch, "patch": patch}
		maps.DeleteFunc(input, func(key string, _ any) bool {
			_, has := t.Schema.Properties[key]
			return !has
		})
		return use(t.Name, input)(r)
	}
}

// use calls a tool.
func use(name string, input object) move {
	return func(*request) []block {
		return []block{{Type: toolUse, ID: "toolu_" + newID(), Name: name, Input: input}}
	}
}

// makeTeam creates a team, in clients whose teams are explicit.
func makeTeam(name string) move {
	return explicit("TeamCreate", object{"team_name": name, "description": "for a test"})
}

func explicit(name string, input object) move {
	return func(r *request) []block {
		if _, ok := r.tool(name); !ok {
			return nil
		}
		return use(name, input)(r)
	}
}

// spawn starts a teammate. team is for clients whose teams are explicit.
func spawn(team, name, agentType, prompt string) move {
	return func(r *request) []block {
		t, _ := r.tool("Agent", "Task")
		input := object{"description": "a teammate", "prompt": prompt, "subagent_type": agentType, "name": name}
		if _, ok := r.tool("TeamCreate"); ok {
			input["team_name"] = team
		}
		return use(t.Name, input)(r)
	}
}

// send sends a message in the form this client's tool takes.
func send(to, words string) move {
	return func(r *request) []block {
		input := object{"to": to, "message": words, "summary": "a message"}
		if r.oldMail() {
			input = object{"type": "message", "recipient": to, "content": words, "summary": "a message"}
		}
		return use("SendMessage", input)(r)
	}
}

// update gives a task a status.
func update(id, status string) move {
	return use("TaskUpdate", object{"taskId": id, "status": status})
}

// askToStop asks a teammate to shut down.
func askToStop(name string) move {
	return func(r *request) []block {
		input := object{"to": name, "message": object{"type": "shutdown_request", "reason": "the test is over"}}
		if r.oldMail() {
			input = object{"type": "shutdown_request", "recipient": name, "content": "the test is over"}
		}
		return use("SendMessage", input)(r)
	}
}

// agree agrees to a request to shut down.
func agree(id string) move {
	return func(r *request) []block {
		input := object{"to": "team-lead", "message": object{"type": "shutdown_response", "request_id": id, "approve": true}}
		if r.oldMail() {
			input = object{"type": "shutdown_response", "request_id": id, "approve": true}
		}
		return use("SendMessage", input)(r)
	}
}

// oldMail tells whether SendMessage takes its first form.
func (r *request) oldMail() bool {
	t, _ := r.tool("SendMessage")
	_, old := t.Schema.Properties["recipient"]
	return old
}

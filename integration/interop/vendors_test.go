package interop_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
)

// vendor is what differs between the agents.
type vendor struct {
	name, profile, worker string
	question              *regexp.Regexp              // of what it asks before it runs a command
	allow                 []string                    // the keys that allow that
	env                   func(url string) []string   // leads it to the script
	home                  func(r *rig) map[string]any // files in which the questions of a first start are answered
	first                 []string                    // the keys that answer what it asks at its start all the same
	adapter               string                      // the row of what speaks the Agent Client Protocol for it, if that is another program
}

func vendors() []vendor {
	question := regexp.MustCompile(`(?i)touch asked|sandbox\?|Allow execution of|Permission required|proceed\?|run this command\?|Would you like to run`)
	return []vendor{
		{"codex", "codex", "codex-worker", question, []string{"y"}, func(string) []string { return []string{"SCRIPT_KEY=dummy"} }, codexHome, nil, "codex-acp"},
		{"gemini", "gemini", "gemini-worker", question, []string{"enter"}, geminiEnv, geminiHome, nil, ""},
		{"opencode", "opencode", "opencode-worker", question, []string{"enter"}, openCodeEnv, openCodeHome, nil, ""},
		{"qwen", "qwen", "qwen-worker", question, []string{"enter"}, qwenEnv, qwenHome, nil, ""},
		{"copilot", "copilot", "copilot-worker", question, []string{"enter"}, copilotEnv, copilotHome, nil, ""},
		{"claude", "claude-interactive", "claude-worker", question, []string{"enter"}, func(string) []string { return nil }, func(*rig) map[string]any { return nil }, []string{"down", "enter"}, "claude-acp"},
	}
}

// settle leads an agent to the script, and answers the questions of its first start.
func (r *rig) settle(v vendor) {
	r.t.Helper()
	r.export(v.env(r.URL)...)
	r.env = append(r.env, v.env(r.URL)...)
	for name, value := range v.home(r) {
		text, ok := value.(string)
		if !ok {
			data, err := json.Marshal(value)
			if err != nil {
				r.t.Fatal(err)
			}
			text = string(data)
		}
		r.write(filepath.Join("home", name), text)
	}
}

func codexHome(r *rig) map[string]any {
	return map[string]any{".codex/config.toml": fmt.Sprintf(`model = "gpt-6.2-sol"
model_provider = "script"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.script]
name = "script"
base_url = "%s/v1"
wire_api = "responses"
env_key = "SCRIPT_KEY"
request_max_retries = 0
stream_max_retries = 0
[projects."%s"]
trust_level = "trusted"
`, r.URL, r.path("project"))}
}

func geminiEnv(url string) []string {
	return []string{"GEMINI_API_KEY=dummy", "GOOGLE_GEMINI_BASE_URL=" + url}
}

func geminiHome(r *rig) map[string]any {
	return map[string]any{
		".gemini/settings.json": object{
			"security": object{"auth": object{"selectedType": "gemini-api-key"}},
			"general":  object{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
			"privacy":  object{"usageStatisticsEnabled": false}, "telemetry": object{"enabled": false}, "model": object{"name": "gemini-2.5-pro"},
		},
		".gemini/trustedFolders.json": object{r.path("project"): "TRUST_FOLDER"},
	}
}

func openCodeEnv(string) []string {
	return []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1"}
}

func openCodeHome(r *rig) map[string]any {
	return map[string]any{"opencode/opencode.json": object{
		"autoupdate": false, "share": "disabled", "model": "script/mock-1", "small_model": "script/mock-1",
		"permission": object{"bash": "ask", "edit": "ask"},
		"provider": object{"script": object{"npm": "@ai-sdk/openai-compatible", "name": "Script", "options": object{"baseURL": r.URL + "/v1", "apiKey": "dummy"},
			"models": object{"mock-1": object{"name": "Mock One", "limit": object{"context": 200000, "output": 8000}}}}},
	}}
}

func qwenEnv(url string) []string {
	return []string{"OPENAI_API_KEY=dummy", "OPENAI_BASE_URL=" + url + "/v1"}
}

func qwenHome(*rig) map[string]any {
	return map[string]any{".qwen/settings.json": object{
		"security": object{"auth": object{"selectedType": "openai"}}, "model": object{"name": "mock-1"}, "general": object{"enableAutoUpdate": false},
		"privacy": object{"usageStatisticsEnabled": false}, "telemetry": object{"enabled": false},
	}}
}

func copilotEnv(url string) []string {
	return []string{"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_PROVIDER_BASE_URL=" + url + "/v1", "COPILOT_PROVIDER_API_KEY=dummy", "COPILOT_MODEL=gpt-5.4"}
}

// copilotHome: the program looks for its folder where XDG_CONFIG_HOME says, if that is set.
func copilotHome(r *rig) map[string]any {
	config := object{"trustedFolders": []string{r.path("project")}, "banner": "never"}
	return map[string]any{".copilot/config.json": config}
}

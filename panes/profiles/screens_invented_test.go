package profiles_test

import (
	"testing"

	"github.com/leadlight-dev/leadlight/panes/screen"
)

// wide is a side of a frame on a screen of 40 columns.
const wide = "────────────────────────────────────────\n"

// claudeAt is Claude Code at its prompt, with in in the input.
func claudeAt(above, in, below string) string {
	return above + "\n" + wide + "❯ " + in + "\n" + wide + below
}

// What a right answer may be, besides one state.
const (
	other screen.State = "not ready"            // asking or unknown: nobody can tell which
	lines screen.State = "not to be typed into" // a draft or a menu, which look the same
)

// Screens that nobody has recorded, but that agents show, or may: menus of the first run,
// of updates and of signing in, questions, half a frame, what an idle prompt's last answer
// quotes, drafts, narrow screens, wide letters.
func TestXH03_InventedScreens(t *testing.T) {
	const A, R, B = screen.Asking, screen.Ready, screen.Busy
	for _, tc := range []struct {
		name, profile, text string
		want                screen.State
	}{
		{"theme", "claude-interactive", " Let's get started.\n\n Choose the text style that looks best with your terminal\n To change this later, run /theme\n\n ❯ 1. Dark mode ✔\n   2. Light mode\n   3. Dark mode (colorblind-friendly)\n\n────────────\n 1  function greet() {\n 2 -  console.log(\"Hello\");\n 2 +  console.log(\"Hi\");\n 3  }\n────────────\n Syntax theme: Monokai (ctrl+t to disable)\n", A},
		{"login method", "claude-interactive", " Claude Code can be used with your Claude subscription or billed based on API usage.\n\n Select login method:\n\n ❯ 1. Claude account with subscription · Pro, Max, Team, or Enterprise\n\n   2. Anthropic Console account · API usage billing\n\n   3. 3rd-party platform · Amazon Bedrock\n", A},
		{"login url", "claude-interactive", " Browser didn't open? Use the url below to sign in:\n\nhttps://claude.ai/oauth/authorize?code=true&client_id=9d1c\n\n\n Paste code here if prompted >\n", other},
		{"login url 2", "claude-interactive", " Browser didn't open? Use the url below to sign in (c to copy)\n\nhttps://claude.ai/oauth/authorize?code=true\n\n Paste code here if prompted > \n\n Esc to cancel\n", other},
		{"bypass", "claude-interactive", wide + " WARNING: Claude Code running in Bypass Permissions mode\n\n In Bypass Permissions mode, Claude Code will not ask.\n\n ❯ 1. No, exit\n   2. Yes, I accept\n\n Enter to confirm · Esc to cancel\n", A},
		{"api key", "claude-interactive", " Detected a custom API key in your environment\n\n ANTHROPIC_API_KEY: sk-ant-...abc\n\n Do you want to use this API key?\n\n   1. Yes\n ❯ 2. No (recommended) ✔\n\n Enter to confirm · Esc to cancel\n", A},
		{"edit permission", "claude-interactive", "● Update(a.go)\n\n" + wide + " Edit file\n a.go\n" + "╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌\n 1 -a\n 1 +b\n╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌\n Do you want to make this edit to a.go?\n ❯ 1. Yes\n   2. Yes, allow all edits during this session (shift+tab)\n   3. No\n\n Esc to cancel · Tab to amend\n", A},
		{"bash permission no hints", "claude-interactive", wide + " Bash command\n\n   rm -rf x\n\n Do you want to proceed?\n ❯ 1. Yes\n   2. No\n", A},
		{"resume list", "claude-interactive", " Resume session\n╭────────────────────────────╮\n│ ⌕ Search…                  │\n╰────────────────────────────╯\n\n ❯ fix the bug\n   2 hours ago · main · 5 msgs\n\n   write docs\n   3 hours ago\n\n Ctrl+A to show all · Esc to clear\n", other},
		{"model picker", "claude-interactive", wide + " Select model\n Switch between Claude models.\n\n   1. Default\n ❯ 2. Opus ✔\n   3. Haiku\n\n Enter to confirm · Esc to exit\n", A},
		{"radio", "claude-interactive", " Pick one:\n\n ❯ (•) alpha\n   ( ) beta\n\n Enter to confirm\n", A},
		{"radio sym", "claude-interactive", " Pick one:\n\n ❯ ◉ alpha\n   ◯ beta\n", A},
		{"arrow without frame", "claude-interactive", " How do you sign in?\n\n❯ With a browser\n  With a key\n", other},
		{"arrow in box", "claude-interactive", "╭──────────────────╮\n│ Sign in          │\n│                  │\n│ ❯ With a browser │\n│   With a key     │\n╰──────────────────╯\n", other},
		{"arrow in box hint", "claude-interactive", "╭──────────────────╮\n│ Sign in          │\n│ > With a browser │\n│   With a key     │\n╰──────────────────╯\n  ↑↓ to move · enter to select\n", A},
		{"arrow menu in rules", "claude-interactive", wide + "❯ Yes, I trust this folder\n  No, exit\n" + wide, lines},
		{"arrow menu in rules hints", "claude-interactive", wide + "❯ Yes, I trust this folder\n  No, exit\n" + wide + " Enter to confirm · Esc to cancel\n", A},
		{"press enter frame", "claude-interactive", wide + " Login successful. Press Enter to continue…\n" + wide, A},
		{"press enter with prompt ch", "claude-interactive", "Login successful.\n> Press Enter to continue\n", other},
		{"any key", "claude-interactive", "Update installed. Press any key to restart\n", A},
		{"hit return", "claude-interactive", "Hit RETURN to go on\n", A},
		{"continue arrow", "claude-interactive", " Security notes:\n\n Press Enter ⏎ to continue\n", A},
		{"press bracket", "claude-interactive", "Something changed.\n [Enter] Continue   [Esc] Quit\n", A},
		{"box update", "claude-interactive", "╭─────────────────────────────╮\n│ Update available: 2.1 → 2.2 │\n│ Run npm i -g to update      │\n│                             │\n│ [U] Update   [S] Skip       │\n╰─────────────────────────────╯\n", other},
		{"y/n", "claude-interactive", "Install the extension? (y/n) \n", A},
		{"Y/n", "claude-interactive", "Continue? [Y/n]\n", A},
		{"yes/no", "claude-interactive", "Are you sure you want to continue connecting (yes/no/[fingerprint])? \n", A},
		{"token", "claude-interactive", "Enter your API key:\n> \n", other},
		{"token framed", "claude-interactive", "Enter your API key:\n" + wide + "> \n" + wide, other},
		{"dialog above idle prompt", "claude-interactive", " Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n" + claudeAt("", "", "  ? for shortcuts\n"), R},
		{"half drawn frame top", "claude-interactive", "● done\n\n" + wide + "❯ \n", other},
		{"half drawn frame bottom only", "claude-interactive", "● done\n\n❯ \n" + wide, other},
		{"half drawn box", "claude-interactive", "╭─────────────╮\n│ > \n", other},
		{"only rule", "claude-interactive", wide, other},
		{"idle esc to interrupt in answer", "claude-interactive", claudeAt("● It says (12s · esc to interrupt)", "", "  ? for shortcuts\n"), R},
		{"idle answer with a star line", "claude-interactive", claudeAt("● The line is:\n  ✻ Thinking… (12s · esc to interrupt)", "", "  ? for shortcuts\n"), R},
		{"idle answer with Would you like", "claude-interactive", claudeAt("● Would you like to run it?\n  1. Yes\n  2. No", "", "  ? for shortcuts\n"), R},
		{"idle answer ends in menu", "claude-interactive", claudeAt("● Choose:\n\n  ❯ 1. Yes\n    2. No\n\n  Enter to confirm · Esc to cancel", "", "  ? for shortcuts\n"), R},
		{"idle answer press enter", "claude-interactive", claudeAt("● Press Enter to continue", "", "  ? for shortcuts\n"), R},
		{"idle answer y/n", "claude-interactive", claudeAt("● Continue? [y/N]", "", "  ? for shortcuts\n"), R},
		{"draft", "claude-interactive", claudeAt("● ok", "please do", "  ? for shortcuts\n"), R},
		{"a draft of several lines", "claude-interactive", claudeAt("● ok", "please do\n  and that", ""), lines},
		{"draft numbered list", "claude-interactive", claudeAt("● ok", "1. do this\n  2. do that", ""), other},
		{"status line esc", "claude-interactive", claudeAt("● ok", "", "  my status: esc to interrupt | main\n  ⏵⏵ accept edits on (shift+tab to cycle)\n"), R},
		{"status line Would", "claude-interactive", claudeAt("● ok", "", "  Would you like to know? | main\n"), R},
		{"status enter to confirm", "claude-interactive", claudeAt("● ok", "", "  tip: enter to confirm\n"), R},
		{"busy", "claude-interactive", claudeAt("✻ Pondering… (3s · esc to interrupt)\n", "", "  ? for shortcuts\n"), B},
		{"busy modeline", "claude-interactive", claudeAt("● Reading\n", "", "  ⏵⏵ bypass permissions on (shift+tab to cycle) · esc to interrupt\n"), B},
		{"busy tokens", "claude-interactive", claudeAt("✽ Compacting conversation… (1m 3s · ↑ 2.1k tokens · esc to interrupt)\n", "", ""), B},
		{"narrow", "claude-interactive", "● ok\n\n────────────────────────────────────────\n❯ \n────────────────────────────────────────\n  ⏵⏵ accept edits on\n  (shift+tab to cycle)\n", R},
		{"narrow trust", "claude-interactive", "────────────────────────────────────────\n Accessing workspace:\n\n /home/user/a/very/long/path/that/wraps\n /here\n\n Quick safety check: Is this a project\n you created or one you trust?\n\n ❯ 1. Yes, I trust this folder\n   2. No, exit\n\n Enter to confirm · Esc to\n cancel\n", A},
		{"narrow menu wrapped option", "claude-interactive", " Do you want to proceed?\n ❯ 1. Yes, and don't ask again for npm\n    test commands in\n    /home/user/project\n   2. No, and tell Claude what to do\n    differently (esc)\n", A},
		{"cjk answer", "claude-interactive", claudeAt("● 完了しました。「esc to interrupt」と表示されます。続行しますか？", "", "  ? for shortcuts\n"), R},
		{"cjk menu", "claude-interactive", " このフォルダーを信頼しますか？\n\n ❯ 1. はい\n   2. いいえ\n\n Enter で確定 · Esc で取り消し\n", A},
		{"cjk menu no numbers", "claude-interactive", " 続行しますか？\n\n ❯ はい\n   いいえ\n\n Enter で確定\n", other},
		{"cjk draft", "claude-interactive", claudeAt("● ok", "これを実行してください", ""), R},
		{"cjk draft wide wrap", "claude-interactive", claudeAt("● ok", "これを実行してくださいこれを実行してくださ\n  いこれを実行", ""), R},
		{"boxes with cursor elsewhere", "claude-interactive", " Select any:\n\n   [✔] alpha\n ❯ [ ] beta\n   [✔] gamma\n", A},
		{"boxes, submit selected", "claude-interactive", " Select any:\n\n   [✔] alpha\n   [ ] beta\n\n ❯ Submit\n", other},
		{"boxes, submit selected+hint", "claude-interactive", " Select any:\n\n   [✔] alpha\n   [ ] beta\n\n ❯ Submit\n\n Enter to select · Tab to move\n", A},
		{"ask user question tabs", "claude-interactive", wide + "←  ☐ Colour  ☐ Size  ✔ Submit  →\n\nWhich colour?\n\n❯ 1. Red\n     warm\n  2. Blue\n     cold\n  3. Type something.\n" + wide + "  4. Chat about this\n\nEnter to select · Tab/Arrow keys to navigate · Esc to cancel\n", A},
		{"plan approval", "claude-interactive", wide + " Ready to code?\n\n Here is Claude's plan:\n╌╌╌╌╌╌╌╌╌╌╌╌\n do it\n╌╌╌╌╌╌╌╌╌╌╌╌\n\n Claude has written up a plan and is ready to execute. Would you like to proceed?\n\n ❯ 1. Yes, and bypass permissions\n   2. Yes, manually approve edits\n   3. Type here to tell Claude what to change\n\n ctrl-g to edit in Vim\n", A},
		{"survey over the prompt", "claude-interactive", "● How is Claude doing this session? (optional)\n  1: Bad    2: Fine   3: Good   0: Dismiss\n\n" + wide + "❯ \n" + wide + "  ? for shortcuts\n", R},
		{"history search", "claude-interactive", "● ok\n" + wide + "❯ \n" + wide + "  search prompts: \n", R},
		{"slash completions", "claude-interactive", claudeAt("● ok", "/m", "  /model     Set the model\n  /memory    Edit\n  /mcp       Manage\n"), R},
		{"shell mode", "claude-interactive", "● ok\n" + wide + "! ls\n" + wide + "  ! for bash mode\n", other},
		{"trust in older box", "claude-interactive", "╭────────────────────────────────────────╮\n│ Do you trust the files in this folder? │\n│                                        │\n│ ❯ 1. Yes, proceed                      │\n│   2. No, exit                          │\n│                                        │\n╰────────────────────────────────────────╯\n   Enter to confirm · Esc to exit\n", A},
		{"older box idle", "claude-interactive", "● done\n\n╭──────────────────────────────╮\n│ > Try \"fix lint errors\"      │\n╰──────────────────────────────╯\n  ? for shortcuts\n", R},
		{"rewind", "claude-interactive", wide + " Rewind\n\n Restore the code and/or conversation to the point before…\n\n   fix this\n   No code changes\n\n ❯ (current)\n\n Enter to continue · Esc to exit\n", A},
		{"ended, a shell below", "claude-interactive", claudeAt("● bye", "", "  ? for shortcuts\n") + "\nResume this session with:\nclaude --resume 1234\nuser@host:~/work$ ", other},
		{"ended, another shell", "claude-interactive", claudeAt("● bye", "", "  ? for shortcuts\n") + "host% ", other},
		{"ended, root's shell", "claude-interactive", claudeAt("● bye", "", "  ? for shortcuts\n") + "root@x:/# ", other},
		{"ended, a shell in two lines", "claude-interactive", claudeAt("● bye", "", "  ? for shortcuts\n") + "~/work main\n❯ ", other},
		{"suspended", "claude-interactive", claudeAt("● bye", "", "  ? for shortcuts\n") + "\n[1]+  Stopped                 claude\nuser@host:~/work$ ", other},
		{"percent in the footer", "claude-interactive", claudeAt("● ok", "", "  main · 23%\n"), R},
		{"really leave", "claude-interactive", claudeAt("", "", "  Background work is running. Exit anyway? (y/N)\n"), A},
		{"vim normal", "claude-interactive", claudeAt("● ok", "", "  -- NORMAL --\n  ? for shortcuts\n"), A},
		{"vim insert", "claude-interactive", claudeAt("● ok", "", "  -- INSERT --\n  ? for shortcuts\n"), R},
		{"vim visual", "claude-interactive", claudeAt("● ok", "text", "  -- VISUAL LINE --\n"), A},
		{"one choice at a time", "claude-interactive", wide + " Select login method:\n" + wide + "❯ Claude account\n" + wide + "  ↑/↓ to navigate\n", A},
		{"a question right above", "claude-interactive", "How should I call you?\n" + wide + "❯ \n" + wide, A},
		{"a title over the input", "claude-interactive", wide + " Paste code here if prompted\n" + wide + "> \n" + wide, A},
		{"a text that waits in line", "claude-interactive", "✻ Pondering… (3s · esc to interrupt)\n\n❯ what about the tests?\n" + wide + "❯ \n" + wide, B},
		// codex
		{"codex ended", "codex", "• bye\n\n› \n\n  gpt-6 high · ~/work\nuser@host:~$ ", other},
		{"codex quit", "codex", "• x\n\n› \n\n  gpt-6 high · ~/work\n  Quit? (y/n)\n", A},
		{"copilot ended", "copilot", "● bye\n\n" + wide + "❯ \n" + wide + "  shift+tab switch mode\nuser@host:~$ ", other},
		{"qwen ended", "qwen", "  ◆ bye\n\n" + wide + "> Type your message\n" + wide + "  ➜ project\nuser@host:~$ ", other},
		{"qwen vim", "qwen", "  ◆ ok\n\n" + wide + "> Type your message\n" + wide + "  [NORMAL]  ➜ project\n", A},
		{"codex update", "codex", "  ✨ Update available! 0.1 -> 0.2\n\n  Release notes: https://github.com\n\n› 1. Update now (runs `npm install -g @openai/codex`)\n  2. Skip\n  3. Skip until next version\n\n  Press enter to continue\n", A},
		{"codex approval", "codex", "• Running\n\n  Would you like to run the following command?\n\n  $ rm -rf x\n\n› 1. Yes, proceed (y)\n  2. No, and tell Codex what to do differently (esc)\n\n  Press enter to confirm or esc to cancel\n", A},
		{"codex idle quoting", "codex", "• It prints \"Working (2s • esc to interrupt)\"\n\n• Would you like to run the following command?\n\n› Ask Codex to do anything\n\n  gpt-6 high · ~/work\n", R},
		{"codex idle answer begins", "codex", "• Would you like to run it? Press enter to confirm\n\n› \n\n  gpt-6 high · ~/work\n", R},
		{"codex answer quotes whole busy line", "codex", "• The line is\n\n  • Working (2s • esc to interrupt)\n\n  as you see.\n\n› \n\n  gpt-6 high · ~/work\n", R},
		{"codex busy", "codex", "• Working (2s • esc to interrupt)\n\n\n› Ask\n\n  gpt-6 high · ~/work\n", B},
		{"codex onboarding", "codex", "  Welcome to Codex\n\n  Sign in with ChatGPT to use Codex\n\n> 1. Sign in with ChatGPT\n  2. Provide your own API key\n\n  Press Enter to continue\n", A},
		{"codex api key box", "codex", "> Use your own OpenAI API key for usage-based billing\n\n  Paste or type your API key below.\n\n╭API key─────────╮\n│ Paste or type  │\n╰────────────────╯\n\n  Press Enter to save\n  Press Esc to go back\n", other},
		{"codex trust", "codex", "> You are running Codex in /work\n\n  Do you trust the contents of this directory?\n\n› 1. Yes, continue\n  2. No, quit\n\n  Press enter to continue\n", A},
		{"codex transcript pager", "codex", "/ T R A N S C R I P T / / / / /\n› hello\n\n• hi\n ↑/↓ to scroll   pgup/pgdn to page   q to quit   esc to edit prev\n", other},
		{"codex cjk", "codex", "• 完了。\n\n› 日本語の入力テキスト\n\n  gpt-6 high · ~/仕事\n", R},
		{"codex narrow", "codex", "• done\n\n› Ask Codex to do anything\n\n  gpt-6 high · ~/work/a/very/long/pa…\n", R},
		// gemini
		{"gemini theme", "gemini", "╭──────────────────────────────────╮\n│ > Select Theme      Preview      │\n│                                  │\n│ ● 1. ANSI Dark                   │\n│   2. Atom One                    │\n│                                  │\n│ (Use Enter to select, Tab to configure scope, Esc to close)│\n╰──────────────────────────────────╯\n", A},
		{"gemini auth", "gemini", "╭──────────────────────────────────╮\n│ ? Get started                    │\n│                                  │\n│ How would you like to authenticate for this project? │\n│                                  │\n│ ● 1. Login with Google           │\n│   2. Use Gemini API Key          │\n│                                  │\n│ (Use Enter to select)            │\n╰──────────────────────────────────╯\n", A},
		{"gemini waiting auth", "gemini", "╭────────────────────────────╮\n│ ⠋ Waiting for auth... (Press ESC or CTRL+C to cancel) │\n╰────────────────────────────╯\n", other},
		{"gemini api key", "gemini", "╭──────────────────╮\n│ Enter Gemini API Key │\n│ ╭──────────────╮ │\n│ │ Paste your API key here │ │\n│ ╰──────────────╯ │\n│ (Press Enter to submit, Esc to cancel) │\n╰──────────────────╯\n", A},
		{"gemini tool", "gemini", "╭─────────────────╮\n│ ?  Shell rm x   │\n│                 │\n│ Allow execution of: 'rm'? │\n│ ● 1. Allow once │\n│   2. Allow for this session │\n│   3. No, suggest changes (esc) │\n╰─────────────────╯\n", A},
		// qwen
		{"qwen idle quoting", "qwen", "  ◆ It says (12s · esc to cancel)\n\n" + wide + "> Type your message\n" + wide + "  ➜ project\n", R},
		{"qwen auth", "qwen", "╭──────────────╮\n│ Get started  │\n│ ● 1. Qwen OAuth │\n│   2. OpenAI  │\n│ (Use Enter to Set Auth) │\n╰──────────────╯\n", A},
		// copilot
		{"copilot trust", "copilot", "╭────────────────╮\n│ Confirm folder trust │\n│ Do you trust the files in this folder? │\n│ ❯ 1. Yes │\n│   2. Yes, and remember │\n│   3. No, exit (Esc) │\n╰────────────────╯\n  Confirm with number keys or ↑↓ keys and Enter, Cancel with Esc\n", A},
		{"copilot idle", "copilot", "● Say: ◉ Working (esc esc cancel)\n\n" + wide + "❯ \n" + wide + "  shift+tab switch mode\n", R},
		// opencode
		{"opencode perm", "opencode", "  ┃  △ Permission required\n  ┃  # Shell\n  ┃\n  ┃  Allow once   Allow always   Reject      ctrl+f fullscreen ⇆ select enter confirm\n", A},
		{"opencode picker", "opencode", "        Select model                         esc\n\n        Search\n\n        Recent\n        ● Big Pickle\n          GPT\n\n        Connect provider ctrl+a  Favorite ctrl+f\n", other},
	} {
		got := reader(t, tc.profile).Read(screen.Screen{Text: tc.text})
		right := got.State == tc.want || tc.want == lines || tc.want == other && (got.State == A || got.State == screen.Unknown)
		if typed := got.MayType().Valid(); !right || typed != (tc.want == R) {
			t.Errorf("%s, %s: %s, typed into: %v, %q %q; want %s", tc.profile, tc.name, got.State, typed, got.Question, got.Choices, tc.want)
		}
		if got.State == A && got.Question == "" {
			t.Errorf("%s, %s: it asks nothing", tc.profile, tc.name)
		}
	}
}

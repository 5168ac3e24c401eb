package policy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"web/settings"
)

const full = `{
  "schema_version": 1,
  "enabled": true,
  "fetch_enabled": true,
  "agents": [
    "designer",
    "a.B_c-9"
  ],
  "permissions": [
    {
      "tool": "web_fetch",
      "pattern": "*.example<&>",
      "permission": "ask"
    },
    {
      "tool": "*",
      "pattern": "?",
      "permission": "deny"
    }
  ],
  "budgets": {
    "search_per_step": 0,
    "search_per_run": 1000000,
    "fetch_per_step": 1,
    "fetch_per_run": 2,
    "search_active": 1,
    "fetch_active": 1000,
    "search_interval_ms": 3600000
  }
}
`

func fullPolicy() Policy {
	return Policy{
		Enabled: true, FetchEnabled: true, Agents: []string{"designer", "a.B_c-9"}, CheckAgents: true,
		Permissions: []Rule{{"web_fetch", "*.example<&>", Ask}, {"*", "?", Deny}},
		Budgets: Budgets{
			SearchPerStep: 0, SearchPerRun: 1_000_000, FetchPerStep: 1, FetchPerRun: 2,
			SearchActive: 1, FetchActive: 1000, SearchInterval: time.Hour,
		},
		Revision: digest([]byte(full)),
	}
}

func TestParse(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want Policy
	}{
		"everything": {full, fullPolicy()},
		"nothing but the version": {`{"schema_version":1}`, Policy{
			Agents: []string{"designer"}, CheckAgents: true, Budgets: DefaultBudgets(),
			Revision: digest([]byte(`{"schema_version":1}`)),
		}},
		"empty lists": {`{"schema_version":1,"agents":[],"permissions":[],"budgets":{}}`, Policy{
			Agents: []string{}, CheckAgents: true, Budgets: DefaultBudgets(),
			Revision: digest([]byte(`{"schema_version":1,"agents":[],"permissions":[],"budgets":{}}`)),
		}},
	} {
		got, err := Parse([]byte(tt.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestFigures holds those of the product, which DefaultBudgets is the only one to know.
func TestFigures(t *testing.T) {
	want := Budgets{20, 100, 40, 200, 1, 3, 2000 * time.Millisecond}
	if diff := cmp.Diff(want, DefaultBudgets()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEncode(t *testing.T) {
	if diff := cmp.Diff(full, string(fullPolicy().Encode())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got, err := Parse(Default().Encode())
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.CheckAgents, want.Agents = true, []string{} // a policy that is present always checks
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Policy{}, "Revision")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseRefuses(t *testing.T) {
	many := func(item string, n int) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
	rule := `{"tool":"*","pattern":"*","permission":"ask"}`
	const name = "must be a name of 1..64 letters, digits, '.', '_' or '-' that starts with a letter or digit"
	const glob = "must be a text of 1..256 characters without control characters"
	bad := func(path, reason string) *Error { return &Error{BadPolicy, path, reason} }
	for text, want := range map[string]*Error{
		``:              {settings.BadSyntax, "", "is not valid JSON: no JSON value at line 1, column 1"},
		"\ufeff" + full: {settings.BadSyntax, "", "is not valid JSON: byte-order mark before the JSON value at line 1, column 1"},
		full + "x":      {settings.BadSyntax, "", "is not valid JSON: data after the JSON value at line 31, column 1"},
		`{"schema_version":1,"agents":[` + strings.Repeat("[", 70): {settings.BadSyntax, "", "is not valid JSON: nesting deeper than 64 levels at line 1, column 93"},
		`{"enabled":true,"enabled":true}`:                          {settings.DuplicateKey, "", "has a duplicate key at line 1, column 17"},
		strings.Repeat(" ", 65537):                                 {settings.TooLarge, "", "is larger than 65,536 bytes"},
		`[]`:                                                       bad("$", "must be an object"),
		`{}`:                                                       {settings.BadVersion, "schema_version", "must be the integer 1"},
		`{"schema_version":1.0}`:                                   {settings.BadVersion, "schema_version", "must be the integer 1"},
		`{"schema_version":2}`:                                     {settings.BadVersion, "schema_version", "must be the integer 1"},
		`{"schema_version":1,"Enabled":true}`:                      {settings.BadKeys, "$", "unknown key; known are schema_version, enabled, fetch_enabled, agents, permissions, budgets"},
		`{"schema_version":1,"enabled":1}`:                         bad("enabled", "must be true or false"),
		`{"schema_version":1,"enabled":null}`:                      bad("enabled", "must be true or false"),
		`{"schema_version":1,"fetch_enabled":"true"}`:              bad("fetch_enabled", "must be true or false"),
		`{"schema_version":1,"agents":null}`:                       bad("agents", "must be a list"),
		`{"schema_version":1,"agents":"a"}`:                        bad("agents", "must be a list"),
		`{"schema_version":1,"agents":["a",1]}`:                    bad("agents[1]", name),
		`{"schema_version":1,"agents":[""]}`:                       bad("agents[0]", name),
		`{"schema_version":1,"agents":["*"]}`:                      bad("agents[0]", name),
		`{"schema_version":1,"agents":["` + strings.Repeat("a", 65) + `"]}`:                                                 bad("agents[0]", name),
		`{"schema_version":1,"agents":[` + many(`"a"`, 65) + `]}`:                                                           bad("agents", "has more than 64 entries"),
		`{"schema_version":1,"permissions":{}}`:                                                                             bad("permissions", "must be a list"),
		`{"schema_version":1,"permissions":[1]}`:                                                                            bad("permissions[0]", "must be an object"),
		`{"schema_version":1,"permissions":[` + many(rule, 257) + `]}`:                                                      bad("permissions", "has more than 256 entries"),
		`{"schema_version":1,"permissions":[{"tool":"*","pattern":"*","permission":"ask","x":1}]}`:                          {settings.BadKeys, "permissions[0]", "unknown key; known are tool, pattern, permission"},
		`{"schema_version":1,"permissions":[{"pattern":"*","permission":"ask"}]}`:                                           bad("permissions[0].tool", "must be one of search, browse, manual, web_search, web_fetch, *"),
		`{"schema_version":1,"permissions":[{"tool":"fetch","pattern":"*","permission":"ask"}]}`:                            bad("permissions[0].tool", "must be one of search, browse, manual, web_search, web_fetch, *"),
		`{"schema_version":1,"permissions":[` + rule + `,{"tool":"*","pattern":"*","permission":"Ask"}]}`:                   bad("permissions[1].permission", "must be one of allow, deny, ask"),
		`{"schema_version":1,"permissions":[{"tool":"*","permission":"ask"}]}`:                                              bad("permissions[0].pattern", glob),
		`{"schema_version":1,"permissions":[{"tool":"*","pattern":"","permission":"ask"}]}`:                                 bad("permissions[0].pattern", glob),
		`{"schema_version":1,"permissions":[{"tool":"*","pattern":"a\u0000","permission":"ask"}]}`:                          bad("permissions[0].pattern", glob),
		`{"schema_version":1,"permissions":[{"tool":"*","pattern":"` + strings.Repeat("é", 257) + `","permission":"ask"}]}`: bad("permissions[0].pattern", glob),
		`{"schema_version":1,"budgets":[]}`:                                                                                 bad("budgets", "must be an object"),
		`{"schema_version":1,"budgets":{"fetch_interval_ms":1}}`:                                                            {settings.BadKeys, "budgets", "unknown key; known are search_per_step, search_per_run, fetch_per_step, fetch_per_run, search_active, fetch_active, search_interval_ms"},
		`{"schema_version":1,"budgets":{"search_per_step":-1}}`:                                                             bad("budgets.search_per_step", "must be an integer in 0..1000000"),
		`{"schema_version":1,"budgets":{"search_per_run":1000001}}`:                                                         bad("budgets.search_per_run", "must be an integer in 0..1000000"),
		`{"schema_version":1,"budgets":{"fetch_per_step":5.0}}`:                                                             bad("budgets.fetch_per_step", "must be an integer in 0..1000000"),
		`{"schema_version":1,"budgets":{"fetch_per_run":"5"}}`:                                                              bad("budgets.fetch_per_run", "must be an integer in 0..1000000"),
		`{"schema_version":1,"budgets":{"search_active":0}}`:                                                                bad("budgets.search_active", "must be an integer in 1..1000"),
		`{"schema_version":1,"budgets":{"fetch_active":1001}}`:                                                              bad("budgets.fetch_active", "must be an integer in 1..1000"),
		`{"schema_version":1,"budgets":{"search_interval_ms":3600001}}`:                                                     bad("budgets.search_interval_ms", "must be an integer in 0..3600000"),
		`{"schema_version":1,"budgets":{"search_interval_ms":1e3}}`:                                                         bad("budgets.search_interval_ms", "must be an integer in 0..3600000"),
	} {
		p, err := Parse([]byte(text))
		var got *Error
		if !errors.As(err, &got) {
			t.Errorf("%.90q: got %v, want an *Error", text, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%.90q (-want +got):\n%s", text, diff)
		}
		if diff := cmp.Diff(Policy{}, p); diff != "" {
			t.Errorf("%.90q: a policy beside the error:\n%s", text, diff)
		}
	}
}

func TestCapability(t *testing.T) {
	tools := []string{"search", "web_search", "browse", "web_fetch", "manual", "*", "other", ""}
	for _, tt := range []struct {
		enabled, fetch bool
		want           string
	}{
		{true, true, "search web_search browse web_fetch manual"},
		{true, false, "search web_search manual"},
		{false, true, "manual"},
		{false, false, "manual"},
	} {
		p := Policy{Enabled: tt.enabled, FetchEnabled: tt.fetch}
		var got []string
		for _, tool := range tools {
			if p.Capability(tool) {
				got = append(got, tool)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%v %v: got %v, want %s", tt.enabled, tt.fetch, got, tt.want)
		}
	}
}

func TestAgentAllowed(t *testing.T) {
	checked := Policy{Agents: []string{"designer", ""}, CheckAgents: true}
	for agent, want := range map[string]bool{"designer": true, "Designer": false, "": false, "other": false} {
		if got := checked.AgentAllowed(agent); got != want {
			t.Errorf("AgentAllowed(%q) = %v", agent, got)
		}
	}
	if !Default().AgentAllowed("") || !Default().AgentAllowed("any") || (Policy{CheckAgents: true}).AgentAllowed("any") {
		t.Error("agents are checked without a policy, or not with an empty list")
	}
}

func TestPermit(t *testing.T) {
	p := Policy{Permissions: []Rule{
		{"web_fetch", "docs.example.com", Allow},
		{"web_fetch", "*.example.com", Deny},
		{"browse", "bücher.example", Deny},
		{"browse", "xn--strae-oqa.example", Deny},
		{"search", "*password*", Deny},
		{"*", "*.test", Ask},
	}}
	for _, tt := range []struct {
		tool, subject string
		want          Permission
	}{
		{"web_fetch", "docs.example.com", Allow},
		{"web_fetch", "DOCS.example.COM", Allow},
		{"web_fetch", "www.example.com", Deny},
		{"web_fetch", "www.example.com.", Deny},
		{"web_fetch", "example.com", Allow},
		{"browse", "www.example.com", Allow},
		{"browse", "xn--bcher-kva.example", Deny},
		{"browse", "xn--strae-oqa.example", Deny},
		{"browse", "127.0.0.1", Allow},
		{"search", "my PASSWORD list", Deny},
		{"web_search", "my password list", Allow},
		{"search", "what is a.test", Ask},
		{"search", "what is a.test.", Allow},
		{"manual", "", Allow},
		{"web_fetch", "A.TEST.", Ask},
	} {
		if got := p.Permit(tt.tool, tt.subject); got != tt.want {
			t.Errorf("Permit(%q, %q) = %s, want %s", tt.tool, tt.subject, got, tt.want)
		}
	}
	if got := (Policy{Permissions: []Rule{{"*", "*", Ask}}}).Permit("manual", ""); got != Ask {
		t.Errorf("* does not match nothing: %s", got)
	}
}

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		pattern, s string
		want       bool
	}{
		{"", "", true}, {"", "a", false}, {"a", "", false},
		{"*", "", true}, {"*", "anything\nat all", true}, {"**", "", true},
		{"?", "", false}, {"?", "é", true}, {"?", "ab", false}, {"*?", "", false}, {"*?", "ab", true},
		{"a*c", "ac", true}, {"a*c", "abcbc", true}, {"a*c", "abcb", false},
		{"*ab", "aab", true}, {"*aab", "aaaab", true}, {"a*b*c", "axbxbxc", true}, {"a*b*c", "axcxb", false},
		{"*.a.*", "x.a", false}, {"*.a.*", "x.a.", true},
		{"ABC", "abc", true}, {"straße", "STRAßE", true}, {"É", "é", true}, {"k", "\u212a", true}, {"\u212a", "K", true}, {"s", "ſ", true},
		{"[a]", "a", false}, {"[a]", "[A]", true}, {`\*`, "*", false}, {`\*`, `\x`, true},
		{"a", "*", false}, {"a?", "a*", true}, {"x-", "X_", false}, {"@", "`", false}, {"[", "{", false},
		{strings.Repeat("a*", 128), strings.Repeat("a", 4096) + "b", true},
		{strings.Repeat("*a", 127) + "c", strings.Repeat("a", 4096), false},
	} {
		if got := match(tt.pattern, tt.s); got != tt.want {
			t.Errorf("match(%.40q, %.40q) = %v", tt.pattern, tt.s, got)
		}
	}
}

func workdir(t testing.TB, content string) (dir, path string) {
	t.Helper()
	dir = t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "settings"), 0o700))
	path = filepath.Join(dir, FileName)
	if content != "" {
		must(t, os.WriteFile(path, []byte(content), 0o600))
	}
	return dir, path
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRead(t *testing.T) {
	hash := func(s string) string { return digest([]byte(s)) }
	invalid := func(p settings.Problem, hash, diagnostic string) File {
		revision := hash
		if hash == "" {
			revision = "error"
		}
		return File{Snapshot: settings.Snapshot{
			State: settings.Invalid, Source: "settings_error", Revision: revision, Hash: hash, Problem: p,
			Diagnostic: FileName + diagnostic,
		}}
	}
	long := full + strings.Repeat(" ", 65537-len(full))
	for _, tt := range []struct {
		name string
		make func(t *testing.T, path string)
		want File
	}{
		{"missing", func(*testing.T, string) {}, File{
			Snapshot: settings.Snapshot{State: settings.Missing, Source: "default", Revision: "default"}, Policy: Default(),
		}},
		{"no settings directory", func(t *testing.T, p string) { must(t, os.Remove(filepath.Dir(p))) }, File{
			Snapshot: settings.Snapshot{State: settings.Missing, Source: "default", Revision: "default"}, Policy: Default(),
		}},
		{"valid", write(full), File{
			Snapshot: settings.Snapshot{State: settings.Valid, Source: FileName, Revision: hash(full), Hash: hash(full)}, Policy: fullPolicy(),
		}},
		{"of the greatest size", write(long[:65536]), File{
			Snapshot: settings.Snapshot{State: settings.Valid, Source: FileName, Revision: hash(long[:65536]), Hash: hash(long[:65536])},
			Policy:   func() Policy { p := fullPolicy(); p.Revision = hash(long[:65536]); return p }(),
		}},
		{"too large", write(long), invalid(settings.TooLarge, hash(long[:65536]), " is larger than 65,536 bytes")},
		{"empty", write(""), invalid(settings.BadSyntax, hash(""), " is not valid JSON: no JSON value at line 1, column 1")},
		{"bad value", write(`{"schema_version":1,"enabled":"s3cr3t"}`),
			invalid(BadPolicy, hash(`{"schema_version":1,"enabled":"s3cr3t"}`), ": enabled: must be true or false")},
		{"directory", func(t *testing.T, p string) { must(t, os.Mkdir(p, 0o700)) },
			invalid(settings.NotRegular, "", " is a link or not a regular file")},
		{"link", func(t *testing.T, p string) { write(full)(t, p+".real"); must(t, os.Symlink(p+".real", p)) },
			invalid(settings.NotRegular, "", " is a link or not a regular file")},
		{"below a file", func(t *testing.T, p string) { must(t, os.Remove(filepath.Dir(p))); write("x")(t, filepath.Dir(p)) },
			invalid(settings.Unreadable, "", " could not be read (not a directory)")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, path := workdir(t, "")
			tt.make(t, path)
			if diff := cmp.Diff(tt.want, Read(dir), cmpopts.IgnoreUnexported(File{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func write(content string) func(t *testing.T, path string) {
	return func(t *testing.T, path string) { t.Helper(); must(t, os.WriteFile(path, []byte(content), 0o600)) }
}

// FuzzParse: whatever is read is within its bounds and says the same when it is written; whatever is refused
// is refused without a word of it. '@' stands for the marker, so that mutation keeps it whole.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		full, `{"schema_version":1}`, `{"schema_version":1,"agents":["@"],"permissions":[{"tool":"@","pattern":"*@*","permission":"deny"}]}`,
		`{"schema_version":1,"permissions":[{"tool":"*","pattern":"*a?b","permission":"deny"}],"budgets":{"search_active":3}}`,
		`{"@":1}`, `{"schema_version":1,"budgets":{"@":1}}`, `{"schema_version":1,"permissions":[{"@":1}]}`, "\ufeff@", "[[[[", "@",
	} {
		f.Add([]byte(s))
	}
	const marker = "s3cr3t-m4rker+"
	f.Fuzz(func(t *testing.T, data []byte) {
		data = []byte(strings.ReplaceAll(string(data), "@", marker))
		p, err := Parse(data)
		var e *Error
		if err != nil {
			if !errors.As(err, &e) || e.Problem == "" || strings.Contains(fmt.Sprintf("%v %+v", err, *e), marker) {
				t.Fatalf("error %v", err)
			}
			if _, text := describe(err); utf8.RuneCountInString(text) > settings.MaxDiagnosticChars || strings.ContainsAny(text, "\r\n") {
				t.Fatalf("diagnostic %q", text)
			}
			return
		}
		if !p.CheckAgents || len(p.Agents) > MaxAgents || len(p.Permissions) > MaxRules || len(p.Revision) != 32 {
			t.Fatalf("impossible policy %+v", p)
		}
		for _, f := range p.Budgets.fields() {
			if n := f.get(); n < f.least || n > f.most {
				t.Fatalf("%s is %d", f.key, n)
			}
		}
		again, err := Parse(p.Encode())
		if err != nil {
			t.Fatalf("%v\n%s", err, p.Encode())
		}
		if diff := cmp.Diff(p, again, cmpopts.IgnoreFields(Policy{}, "Revision"), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("written and read (-want +got):\n%s", diff)
		}
		for _, r := range p.Permissions {
			if example := strings.NewReplacer("*", "", "?", "x").Replace(r.Pattern); !match(r.Pattern, example) {
				t.Fatalf("%q does not match %q", r.Pattern, example)
			}
		}
	})
}

func BenchmarkMatchWorst(b *testing.B) {
	pattern, s := strings.Repeat("*a", 127)+"c", strings.Repeat("a", 1000)
	for b.Loop() {
		match(pattern, s)
	}
}

package operator

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
)

func environment(vars map[string]string) Getenv {
	return func(name string) (string, bool) {
		v, ok := vars[name]
		return v, ok
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// bare is the configuration without a file and with an empty environment.
func bare() Operator {
	return Operator{
		Engines: map[string]Engine{
			"duckduckgo": {},
			"openai":     {KeyEnv: "OPENAI_API_KEY", KeyMissing: true},
			"anthropic":  {KeyEnv: "ANTHROPIC_API_KEY", KeyMissing: true},
			"gemini":     {KeyEnv: "GEMINI_API_KEY", KeyMissing: true},
		},
		Network:    Network{Robots: "off"},
		Limits:     Limits{BodyBytes: 10485760, Fetch: 30 * time.Second, Search: 25 * time.Second},
		Summarizer: "auto",
	}
}

func TestRead(t *testing.T) {
	keys := map[string]string{
		"OPENAI_API_KEY": "o", "ANTHROPIC_API_KEY": "a", "GEMINI_API_KEY": " ", "TAVILY_API_KEY": "t",
		"WEB_LLM_PROVIDER": "Anthropic", "WEB_LLM_BASE_URL": "https://llm.example/v1",
		"MINE": "m", "EMPTY": "", "HOST": "10.0.0.1",
	}
	for _, tt := range []struct {
		name, file string // "" is no file
		env        map[string]string
		want       func(o *Operator)
	}{
		{"no file, no environment", "", nil, func(o *Operator) { o.FromFile = false }},
		{"empty variables are unset", "", map[string]string{"OPENAI_API_KEY": "", "TAVILY_API_KEY": "", "WEB_LLM_PROVIDER": ""},
			func(o *Operator) { o.FromFile = false }},
		{"no file, all variables", "", keys, func(o *Operator) {
			o.FromFile = false
			allKeys(o)
			o.BackendIdentity, o.LLMBaseURL = "Anthropic", "https://llm.example/v1"
		}},
		{"the shortest file", `{"schema_version":1}`, nil, func(*Operator) {}},
		{"a silent file takes the same variables", `{"schema_version":1}`, keys, func(o *Operator) {
			allKeys(o)
			o.BackendIdentity, o.LLMBaseURL = "Anthropic", "https://llm.example/v1"
		}},
		{"llm in the file stands alone", `{"schema_version":1,"llm":{"provider":"minimax"}}`, map[string]string{"WEB_LLM_BASE_URL": "https://x.example"},
			func(o *Operator) { o.BackendIdentity = "minimax" }},
		{"everything", `{
			"schema_version": 1, "default_engine": "tavily",
			"llm": {"provider": "anthropic", "base_url": "https://api.anthropic.com"},
			"engines": {
				"duckduckgo": {"base_url": "http://127.0.0.1:8080/html/"},
				"openai": {"api_key": "literal", "model": "gpt-5.6", "base_url": "https://api.openai.com/v1/"},
				"anthropic": {"api_key": "${MINE}"},
				"gemini": {"api_key": "x-${MINE}-${HOST}", "base_url": "https://[::1]:8/v1"},
				"tavily": {"api_key": "tv"}
			},
			"network": {"allow": ["127.0.0.1:8080", "${HOST}", "10.20.0.0/16", "wiki.corp.example", "[::1]:80"], "fake_ip": ["198.18.0.0/15"],
				"robots": "respect", "proxy": "http://u:p@proxy.corp.example:3128", "ca_file": "/etc/ssl/corp.pem", "user_agent": "corp bot/1"},
			"limits": {"body_bytes": 1024, "fetch_seconds": 1, "search_seconds": 300},
			"summarizer": {"engine": "extractive"},
			"store": {"url": "postgres://u:p@db.example/web?sslmode=require"}
		}`, keys, func(o *Operator) {
			*o = Operator{
				FromFile: true, DefaultEngine: "tavily", BackendIdentity: "anthropic", LLMBaseURL: "https://api.anthropic.com",
				Engines: map[string]Engine{
					"duckduckgo": {Configured: true, BaseURL: "http://127.0.0.1:8080/html/", Custom: true},
					"openai":     {Configured: true, Key: NewSecret("literal"), Model: "gpt-5.6", BaseURL: "https://api.openai.com/v1/"},
					"anthropic":  {Configured: true, Key: NewSecret("m"), KeyEnv: "MINE"},
					"gemini":     {Configured: true, Key: NewSecret("x-m-10.0.0.1"), KeyEnv: "MINE", BaseURL: "https://[::1]:8/v1", Custom: true},
					"tavily":     {Configured: true, Key: NewSecret("tv")},
				},
				Network: Network{
					Allow:  []string{"127.0.0.1:8080", "10.0.0.1", "10.20.0.0/16", "wiki.corp.example", "[::1]:80"},
					FakeIP: []string{"198.18.0.0/15"}, Robots: "respect", Proxy: NewSecret("http://u:p@proxy.corp.example:3128"),
					CAFile: "/etc/ssl/corp.pem", UserAgent: "corp bot/1",
				},
				Limits:     Limits{BodyBytes: 1024, Fetch: time.Second, Search: 300 * time.Second},
				Summarizer: "extractive",
				StoreURL:   NewSecret("postgres://u:p@db.example/web?sslmode=require"),
			}
		}},
		{"an entry without a key takes the built-in variable", `{"schema_version":1,"engines":{"openai":{"model":"m"},"tavily":{}}}`, map[string]string{"OPENAI_API_KEY": "o"},
			func(o *Operator) {
				o.Engines["openai"] = Engine{Configured: true, Key: NewSecret("o"), KeyEnv: "OPENAI_API_KEY", Model: "m"}
				o.Engines["tavily"] = Engine{Configured: true, KeyEnv: "TAVILY_API_KEY", KeyMissing: true}
			}},
		{"a named variable that is unset or empty does not fall back", `{"schema_version":1,"engines":{"openai":{"api_key":"${GONE}"},"gemini":{"api_key":"${EMPTY}"}}}`,
			map[string]string{"OPENAI_API_KEY": "o", "GEMINI_API_KEY": "g", "EMPTY": ""}, func(o *Operator) {
				o.Engines["openai"] = Engine{Configured: true, KeyEnv: "GONE", KeyMissing: true}
				o.Engines["gemini"] = Engine{Configured: true, KeyEnv: "EMPTY", KeyMissing: true}
			}},
		{"one of two variables is unset", `{"schema_version":1,"engines":{"openai":{"api_key":"${MINE}${GONE}"}}}`, map[string]string{"MINE": "m"},
			func(o *Operator) { o.Engines["openai"] = Engine{Configured: true, KeyEnv: "GONE", KeyMissing: true} }},
		{"an unset variable elsewhere in the entry", `{"schema_version":1,"engines":{"openai":{"api_key":"k","base_url":"${GONE}"},"duckduckgo":{"base_url":"https://${GONE}/"}}}`, nil,
			func(o *Operator) {
				o.Engines["openai"] = Engine{Configured: true, KeyEnv: "GONE", KeyMissing: true}
				o.Engines["duckduckgo"] = Engine{Configured: true, KeyEnv: "GONE", KeyMissing: true}
			}},
		{"what is put in is not expanded again", `{"schema_version":1,"engines":{"openai":{"api_key":"${MINE} $OTHER $$"}}}`, map[string]string{"MINE": "${OTHER}"},
			func(o *Operator) {
				o.Engines["openai"] = Engine{Configured: true, Key: NewSecret("${OTHER} $OTHER $$"), KeyEnv: "MINE"}
			}},
		{"default engine without its key", `{"schema_version":1,"default_engine":"openai"}`, nil, func(o *Operator) { o.DefaultEngine = "openai" }},
		{"default engine from a variable", `{"schema_version":1,"default_engine":"${E}"}`, map[string]string{"E": "duckduckgo"}, func(o *Operator) { o.DefaultEngine = "duckduckgo" }},
		{"default tavily by its variable", `{"schema_version":1,"default_engine":"tavily"}`, map[string]string{"TAVILY_API_KEY": "t"}, func(o *Operator) {
			o.DefaultEngine = "tavily"
			o.Engines["tavily"] = Engine{Key: NewSecret("t"), KeyEnv: "TAVILY_API_KEY"}
		}},
		{"empty lists", `{"schema_version":1,"network":{"allow":[],"fake_ip":[]}}`, nil, func(*Operator) {}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := bare()
			want.FromFile = true
			tt.want(&want)
			at := Location{Path: filepath.Join(t.TempDir(), "operator.json")}
			if tt.file != "" {
				must(t, os.WriteFile(at.Path, []byte(tt.file), 0o600))
			}
			got, err := Read(at, environment(tt.env))
			must(t, err)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// allKeys is what the built-in variables of TestRead give.
func allKeys(o *Operator) {
	o.Engines["openai"] = Engine{Key: NewSecret("o"), KeyEnv: "OPENAI_API_KEY"}
	o.Engines["anthropic"] = Engine{Key: NewSecret("a"), KeyEnv: "ANTHROPIC_API_KEY"}
	o.Engines["gemini"] = Engine{Key: NewSecret(" "), KeyEnv: "GEMINI_API_KEY"} // a blank key counts as set
	o.Engines["tavily"] = Engine{Key: NewSecret("t"), KeyEnv: "TAVILY_API_KEY"}
}

func TestAdmitted(t *testing.T) {
	for name, want := range map[string]bool{"duckduckgo": true, "openai": true, "anthropic": true, "gemini": true, "tavily": false, "minimax": false, "": false} {
		if got := bare().Admitted(name); got != want {
			t.Errorf("Admitted(%q) = %v", name, got)
		}
	}
}

func TestRelativeCAFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "operator.json")
	must(t, os.WriteFile(path, []byte(`{"schema_version":1,"network":{"ca_file":"certs/corp.pem"}}`), 0o600))
	got, err := Read(Location{Path: path}, environment(nil))
	must(t, err)
	if want := filepath.Join(dir, "certs", "corp.pem"); got.Network.CAFile != want {
		t.Errorf("got %s, want %s", got.Network.CAFile, want)
	}
}

func TestInvalid(t *testing.T) {
	const base = "must be an absolute http or https URL with a host"
	const allow = "must be a host, host:port, IP address, IP:port ([IPv6]:port) or CIDR range"
	long := strings.Repeat("x", MaxStringBytes+1)
	value := func(path, reason string) *Error { return &Error{Kind: Value, Path: path, Reason: reason} }
	engines := "must be one of duckduckgo, openai, tavily"
	for in, want := range map[string]*Error{
		"":                       {Kind: Syntax, Reason: "no JSON value at line 1, column 1"},
		"\ufeff{}":               {Kind: Syntax, Reason: "byte-order mark before the JSON value at line 1, column 1"},
		"{\"schema_version\":1,": {Kind: Syntax, Reason: "JSON value that ends too early at line 1, column 21"},
		`{"schema_version":1}x`:  {Kind: Syntax, Reason: "data after the JSON value at line 1, column 21"},
		"{\"a\xff\":1}":          {Kind: Syntax, Reason: "invalid UTF-8 at line 1, column 4"},
		`{"schema_version":1,"network":{"robots":"off","robots":"off"}}`: {Kind: Syntax, Reason: "duplicate key at line 1, column 47"},
		strings.Repeat("[", 5000): {Kind: Syntax, Reason: "nesting deeper than 64 levels at line 1, column 65"},
		`[]`:                      value("$", "must be an object"),
		`{}`:                      value("schema_version", "is required"),
		`{"schema_version":1.0}`:  value("schema_version", "must be the integer 1"),
		`{"schema_version":true}`: value("schema_version", "must be the integer 1"),
		`{"schema_version":2}`:    value("schema_version", "must be the integer 1"),
		`{"schema_version":` + strings.Repeat("9", 9999) + `}`:                                         value("schema_version", "must be the integer 1"),
		`{"schema_version":1,"Network":{}}`:                                                            value("$", "unknown key; known are schema_version, default_engine, llm, engines, network, limits, summarizer, store"),
		`{"schema_version":1,"network":null}`:                                                          value("network", "must be an object"),
		`{"schema_version":1,"network":{"x":1}}`:                                                       value("network", "unknown key; known are allow, fake_ip, robots, proxy, ca_file, user_agent"),
		`{"schema_version":1,"llm":{"x":1}}`:                                                           value("llm", "unknown key; known are provider, base_url"),
		`{"schema_version":1,"limits":{"x":1}}`:                                                        value("limits", "unknown key; known are body_bytes, fetch_seconds, search_seconds"),
		`{"schema_version":1,"store":{"x":1}}`:                                                         value("store", "unknown key; known are url"),
		`{"schema_version":1,"summarizer":{"x":1}}`:                                                    value("summarizer", "unknown key; known are engine"),
		`{"schema_version":1,"engines":{"bad/name":{}}}`:                                               value("engines", "unknown key; known are duckduckgo, openai, anthropic, gemini, tavily"),
		`{"schema_version":1,"engines":{"duckduckgo":{"api_key":"k"}}}`:                                value("engines.duckduckgo", "unknown key; known are base_url"),
		`{"schema_version":1,"engines":{"tavily":{"model":"k"}}}`:                                      value("engines.tavily", "unknown key; known are api_key, base_url"),
		`{"schema_version":1,"engines":{"gemini":{"key":"k"}}}`:                                        value("engines.gemini", "unknown key; known are api_key, model, base_url"),
		`{"schema_version":1,"engines":{}}`:                                                            value("engines", "must not be empty"),
		`{"schema_version":1,"engines":{"openai":"k"}}`:                                                value("engines.openai", "must be an object"),
		`{"schema_version":1,"engines":{"openai":{"api_key":null}}}`:                                   value("engines.openai.api_key", "must be a string"),
		`{"schema_version":1,"engines":{"openai":{"api_key":""}}}`:                                     value("engines.openai.api_key", "must not be empty"),
		`{"schema_version":1,"engines":{"openai":{"api_key":"${A"}}}`:                                  value("engines.openai.api_key", "${ without }"),
		`{"schema_version":1,"engines":{"openai":{"api_key":"${}"}}}`:                                  value("engines.openai.api_key", "${...} that holds no variable's name"),
		`{"schema_version":1,"engines":{"openai":{"api_key":"${1A}"}}}`:                                value("engines.openai.api_key", "${...} that holds no variable's name"),
		`{"schema_version":1,"engines":{"openai":{"api_key":"${A-B}"}}}`:                               value("engines.openai.api_key", "${...} that holds no variable's name"),
		`{"schema_version":1,"engines":{"openai":{"api_key":"` + long + `"}}}`:                         value("engines.openai.api_key", "longer than 8192 bytes"),
		`{"schema_version":1,"engines":{"openai":{"api_key":"${LONG}${LONG}"}}}`:                       value("engines.openai.api_key", "longer than 8192 bytes"),
		`{"schema_version":1,"engines":{"openai":{"model":"a b"}}}`:                                    value("engines.openai.model", "must be 1..200 visible ASCII characters"),
		`{"schema_version":1,"engines":{"openai":{"base_url":"${EMPTY}"}}}`:                            value("engines.openai.base_url", base),
		`{"schema_version":1,"engines":{"openai":{"base_url":"ftp://a"}}}`:                             value("engines.openai.base_url", base),
		`{"schema_version":1,"engines":{"openai":{"base_url":"https://u@a"}}}`:                         value("engines.openai.base_url", "must not hold user info"),
		`{"schema_version":1,"engines":{"openai":{"base_url":"https://a/?q"}}}`:                        value("engines.openai.base_url", "must not have a query or fragment"),
		`{"schema_version":1,"engines":{"openai":{"base_url":"https://a/#"}}}`:                         value("engines.openai.base_url", "must not have a query or fragment"),
		`{"schema_version":1,"engines":{"minimax":{}}}`:                                                {Kind: RetiredProvider, Path: "engines.minimax", Reason: "this provider is retired and has no successor"},
		`{"schema_version":1,"engines":{"zhipu":{}}}`:                                                  {Kind: RetiredProvider, Path: "engines.zhipu", Reason: "this provider is retired and has no successor"},
		`{"schema_version":1,"default_engine":"zhipu"}`:                                                {Kind: RetiredProvider, Path: "default_engine", Reason: "this provider is retired and has no successor"},
		`{"schema_version":1,"default_engine":"gemini"}`:                                               {Kind: SettingsOnlyProvider, Path: "default_engine", Reason: "this engine can be selected in settings/web.search.json only"},
		`{"schema_version":1,"default_engine":"anthropic","engines":{"anthropic":{"api_key":"k"}}}`:    {Kind: SettingsOnlyProvider, Path: "default_engine", Reason: "this engine can be selected in settings/web.search.json only"},
		`{"schema_version":1,"default_engine":"tavily"}`:                                               value("default_engine", "tavily needs an entry in engines, or TAVILY_API_KEY"),
		`{"schema_version":1,"default_engine":"searx"}`:                                                value("default_engine", engines),
		`{"schema_version":1,"default_engine":"OpenAI"}`:                                               value("default_engine", engines),
		`{"schema_version":1,"default_engine":"bad/name"}`:                                             value("default_engine", engines),
		`{"schema_version":1,"default_engine":""}`:                                                     value("default_engine", engines),
		`{"schema_version":1,"default_engine":null}`:                                                   value("default_engine", "must be a string"),
		`{"schema_version":1,"default_engine":"${GONE}"}`:                                              {Kind: Value, Path: "default_engine", Reason: "the environment variable GONE is not set", Variable: "GONE"},
		`{"schema_version":1,"llm":{"provider":5}}`:                                                    value("llm.provider", "must be a string"),
		`{"schema_version":1,"llm":{"provider":""}}`:                                                   value("llm.provider", "must be 1..64 visible ASCII characters"),
		`{"schema_version":1,"llm":{"base_url":"x"}}`:                                                  value("llm.base_url", base),
		`{"schema_version":1,"network":{"allow":"a"}}`:                                                 value("network.allow", "must be a list"),
		`{"schema_version":1,"network":{"allow":["a",5]}}`:                                             value("network.allow[1]", "must be a string"),
		`{"schema_version":1,"network":{"allow":["a","b","*.c"]}}`:                                     value("network.allow[2]", allow),
		`{"schema_version":1,"network":{"allow":["a","${GONE}"]}}`:                                     {Kind: Value, Path: "network.allow[1]", Reason: "the environment variable GONE is not set", Variable: "GONE"},
		`{"schema_version":1,"network":{"allow":["10.0.0.1/8"]}}`:                                      value("network.allow[0]", "must be a CIDR range without host bits"),
		`{"schema_version":1,"network":{"allow":[` + strings.Repeat(`"a",`, MaxListEntries) + `"a"]}}`: value("network.allow", "has more than 1024 entries"),
		`{"schema_version":1,"network":{"fake_ip":["198.18.0.1"]}}`:                                    value("network.fake_ip[0]", "must be a CIDR range"),
		`{"schema_version":1,"network":{"robots":"on"}}`:                                               value("network.robots", "must be one of off, respect"),
		`{"schema_version":1,"network":{"proxy":"socks5://a"}}`:                                        value("network.proxy", base),
		`{"schema_version":1,"network":{"proxy":"http://a/p"}}`:                                        value("network.proxy", "must not have a path, query or fragment"),
		`{"schema_version":1,"network":{"ca_file":""}}`:                                                value("network.ca_file", "must be a file's path"),
		`{"schema_version":1,"network":{"ca_file":"a\u0000"}}`:                                         value("network.ca_file", "must be a file's path"),
		`{"schema_version":1,"network":{"user_agent":"a\r\nX: y"}}`:                                    value("network.user_agent", "must be 1..256 visible ASCII characters and spaces"),
		`{"schema_version":1,"limits":{"body_bytes":1023}}`:                                            value("limits.body_bytes", "must be an integer in 1024..104857600"),
		`{"schema_version":1,"limits":{"body_bytes":104857601}}`:                                       value("limits.body_bytes", "must be an integer in 1024..104857600"),
		`{"schema_version":1,"limits":{"fetch_seconds":0}}`:                                            value("limits.fetch_seconds", "must be an integer in 1..300"),
		`{"schema_version":1,"limits":{"fetch_seconds":30.0}}`:                                         value("limits.fetch_seconds", "must be an integer in 1..300"),
		`{"schema_version":1,"limits":{"search_seconds":301}}`:                                         value("limits.search_seconds", "must be an integer in 1..300"),
		`{"schema_version":1,"summarizer":{"engine":"tavily"}}`:                                        value("summarizer.engine", "must be one of auto, openai, anthropic, gemini, extractive"),
		`{"schema_version":1,"store":{"url":"mysql://a"}}`:                                             value("store.url", "must be a postgres:// or postgresql:// URL"),
		`{"schema_version":1,"store":{"url":"postgres://u:%zz@a"}}`:                                    value("store.url", "must be a postgres:// or postgresql:// URL"),
	} {
		_, err := parse([]byte(in), "/dir", environment(map[string]string{"EMPTY": "", "LONG": strings.Repeat("l", 5000)}))
		var got *Error
		if !errors.As(err, &got) {
			t.Errorf("%.80q: got %v, want an *Error", in, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%.80q (-want +got):\n%s", in, diff)
		}
	}
}

func TestBadEnvironment(t *testing.T) {
	for name, v := range map[string]string{"WEB_LLM_PROVIDER": "a b", "WEB_LLM_BASE_URL": "https://u:p@a"} {
		_, err := Read(Location{}, environment(map[string]string{name: v}))
		var e *Error
		if !errors.As(err, &e) || e.Path != name || strings.Contains(err.Error(), v) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadRefusesTheFile(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		make         func(t *testing.T, path string)
	}{
		{"directory", "not a regular file, or a link to none", func(t *testing.T, p string) { must(t, os.Mkdir(p, 0o700)) }},
		{"link to a device", "not a regular file, or a link to none", func(t *testing.T, p string) { must(t, os.Symlink("/dev/zero", p)) }},
		{"link to nothing", "not a regular file, or a link to none", func(t *testing.T, p string) { must(t, os.Symlink(p+".gone", p)) }},
		{"too large", "the file is larger than 256 KiB", func(t *testing.T, p string) {
			must(t, os.WriteFile(p, []byte(`{"schema_version":1}`+strings.Repeat(" ", MaxFileBytes)), 0o600))
		}},
		{"below a file", "could not be read (not a directory)", func(t *testing.T, p string) {
			must(t, os.Remove(filepath.Dir(p)))
			must(t, os.WriteFile(filepath.Dir(p), nil, 0o600))
		}},
	} {
		dir := filepath.Join(t.TempDir(), "web")
		must(t, os.Mkdir(dir, 0o700))
		path := filepath.Join(dir, "operator.json")
		tt.make(t, path)
		for _, explicit := range []bool{false, true} {
			_, err := Read(Location{path, explicit}, environment(nil))
			var e *Error
			if !errors.As(err, &e) {
				t.Errorf("%s: got %v, want an *Error", tt.name, err)
				continue
			}
			want := &Error{Kind: Unreadable, Reason: tt.reason}
			if diff := cmp.Diff(want, e, cmpopts.IgnoreFields(Error{}, "Err")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, diff)
			}
			if strings.Contains(err.Error(), dir) {
				t.Errorf("%s: error shows the path: %v", tt.name, err)
			}
		}
	}
}

func TestGreatestFileAndLink(t *testing.T) {
	path := filepath.Join(t.TempDir(), "operator.json")
	content := `{"schema_version":1}`
	must(t, os.WriteFile(path+".real", []byte(content+strings.Repeat(" ", MaxFileBytes-len(content))), 0o600))
	must(t, os.Symlink(path+".real", path))
	if got, err := Read(Location{path, true}, environment(nil)); err != nil || !got.FromFile {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestNamedFileMustExist(t *testing.T) {
	path := filepath.Join(t.TempDir(), "operator.json")
	_, err := Read(Location{path, true}, environment(nil))
	var e *Error
	if !errors.As(err, &e) || e.Kind != Unreadable || e.Reason != "the file that was named is not there" {
		t.Errorf("got %v", err)
	}
}

func TestLocate(t *testing.T) {
	for _, tt := range []struct {
		name, flag string
		env        map[string]string
		want       Location
	}{
		{"flag first", "f.json", map[string]string{"WEB_CONFIG": "w.json"}, Location{"f.json", true}},
		{"variable", "", map[string]string{"WEB_CONFIG": "w.json", "XDG_CONFIG_HOME": "/x"}, Location{"w.json", true}},
		{"standard directory", "", map[string]string{"WEB_CONFIG": "", "XDG_CONFIG_HOME": "/x", "HOME": "/h"}, Location{"/x/web/operator.json", false}},
		{"relative standard directory", "", map[string]string{"XDG_CONFIG_HOME": "x", "HOME": "/h"}, Location{"/h/.config/web/operator.json", false}},
		{"home", "", map[string]string{"HOME": "/h"}, Location{"/h/.config/web/operator.json", false}},
		{"nowhere", "", nil, Location{}},
	} {
		if diff := cmp.Diff(tt.want, Locate(tt.flag, environment(tt.env))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// Fuzzing: '@' in the input stands for the marker, which the environment holds as well, so that mutation
// keeps it whole. It is no variable's name, the one text of the file that an error may hold.
const marker = "s3cr3t-m4rker+"

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"schema_version":1,"default_engine":"@","llm":{"provider":"@","base_url":"https://@"}}`,
		`{"schema_version":1,"engines":{"openai":{"api_key":"@${SECRET}","model":"@","base_url":"https://@/@"},"@":{}}}`,
		`{"schema_version":1,"engines":{"gemini":{"api_key":"${@}"},"duckduckgo":{"base_url":"${SECRET}"},"tavily":{"api_key":"${GONE}"}}}`,
		`{"schema_version":1,"network":{"allow":["a:1","[::1]:80","10.0.0.0/8","@"],"fake_ip":["@"],"robots":"@","proxy":"http://u:@@h","ca_file":"@","user_agent":"@"}}`,
		`{"schema_version":1,"limits":{"body_bytes":2048,"fetch_seconds":1,"search_seconds":"@"},"summarizer":{"engine":"@"},"store":{"url":"postgres://u:@@h/d"}}`,
		`{"@":1,"@":2}`, `{"schema_version":@}`, "\ufeff{}", "[[[[", "@",
	} {
		f.Add([]byte(s))
	}
	env := environment(map[string]string{"SECRET": marker, "E": "", "WEB_LLM_PROVIDER": "x"})
	f.Fuzz(func(t *testing.T, data []byte) {
		data = []byte(strings.ReplaceAll(string(data), "@", marker))
		op, err := parse(data, "/dir", env)
		if err == nil {
			if op.DefaultEngine != "" && !op.Admitted(op.DefaultEngine) || len(op.Engines) < 4 || op.Limits.Fetch <= 0 || op.Limits.BodyBytes <= 0 {
				t.Fatalf("impossible configuration %+v", op)
			}
			for name, e := range op.Engines {
				if e.KeyMissing && (e.Key.IsSet() || e.KeyEnv == "") || !e.KeyMissing && name != duckduckgo && !e.Key.IsSet() {
					t.Fatalf("%s: %+v", name, e)
				}
			}
			return
		}
		var e *Error
		if !errors.As(err, &e) || e.Kind == "" {
			t.Fatalf("got %v, want an *Error", err)
		}
		for _, s := range []string{err.Error(), fmt.Sprintf("%+v", *e)} {
			if strings.Contains(s, marker) || utf8.RuneCountInString(err.Error()) > 300 || strings.ContainsAny(s, "\r\n") {
				t.Fatalf("error %q", s)
			}
		}
	})
}

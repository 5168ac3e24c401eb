package operator

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"web/settings/strictjson"
)

// decoder turns the parsed file into an Operator. It keeps the first fault and goes on, so that the decoding
// reads as a list of the file's keys; what it builds after a fault is thrown away.
type decoder struct {
	getenv Getenv
	dir    string
	fault  *Error
}

func (d *decoder) result(op Operator) (Operator, error) {
	if d.fault != nil {
		return Operator{}, d.fault
	}
	return op, nil
}

func (d *decoder) fail(kind Kind, path, reason string) {
	if d.fault == nil {
		d.fault = &Error{Kind: kind, Path: path, Reason: reason}
	}
}

func (d *decoder) version(doc map[string]any) {
	switch v, ok := doc["schema_version"]; {
	case !ok:
		d.fail(Value, "schema_version", "is required")
	default:
		if _, ok := strictjson.Integer(v, 1, 1); !ok {
			d.fail(Value, "schema_version", "must be the integer 1")
		}
	}
}

func (d *decoder) operator(doc map[string]any) Operator {
	d.keys(doc, "$", "schema_version", "default_engine", "llm", "engines", "network", "limits", "summarizer", "store")
	op := Operator{Engines: d.engines(doc)}
	op.DefaultEngine = d.defaultEngine(doc, op)
	op.BackendIdentity, op.LLMBaseURL = d.llm(doc)
	op.Network = d.network(doc)
	op.Limits = d.limits(doc)

	summarizer := d.object(doc, "summarizer", "engine")
	op.Summarizer = d.choice(summarizer, "summarizer.engine", SummarizerAuto, openai, anthropic, gemini, "extractive")
	store := d.object(doc, "store", "url")
	if url, ok := d.text(store, "store.url"); ok {
		d.check("store.url", storeURL(url))
		op.StoreURL = NewSecret(url)
	}
	return op
}

// builtIn describes the engines that the file may configure, in the order in which they are read.
type builtIn struct {
	name, keyEnv, baseURL string
	keys                  []string
	always                bool // admitted without being configured
}

func builtIns() []builtIn {
	full := []string{"api_key", "model", "base_url"}
	return []builtIn{
		{duckduckgo, "", "https://html.duckduckgo.com/html/", full[2:], true},
		{openai, EnvOpenAIKey, "https://api.openai.com/v1", full, true},
		{anthropic, EnvAnthropicKey, "https://api.anthropic.com", full, true},
		{gemini, EnvGeminiKey, "https://generativelanguage.googleapis.com/v1beta", full, true},
		{tavily, EnvTavilyKey, "https://api.tavily.com", []string{"api_key", "base_url"}, false},
	}
}

func (d *decoder) engines(doc map[string]any) map[string]Engine {
	if entries, ok := doc["engines"].(map[string]any); ok {
		for _, name := range []string{"minimax", "zhipu"} {
			if _, named := entries[name]; named {
				d.fail(RetiredProvider, "engines."+name, "this provider is retired and has no successor")
			}
		}
	}
	// An unknown name is refused like every unknown key: a misspelt engine must not turn into another one.
	entries := d.object(doc, "engines", duckduckgo, openai, anthropic, gemini, tavily)
	if _, ok := doc["engines"]; ok && len(entries) == 0 {
		d.fail(Value, "engines", "must not be empty")
	}
	out := map[string]Engine{}
	for _, b := range builtIns() {
		_, configured := entries[b.name]
		if b.always || configured || value(d.getenv, b.keyEnv) != "" {
			out[b.name] = d.engine(entries, b)
		}
	}
	return out
}

func (d *decoder) engine(entries map[string]any, b builtIn) Engine {
	e := Engine{KeyEnv: b.keyEnv}
	path := "engines." + b.name
	var entry map[string]any
	if v, ok := entries[b.name]; ok {
		e.Configured = true
		entry = d.objectAt(v, path, b.keys...)
	}
	unset := "" // the first variable that the entry needs and that is not set

	key := ""
	if s, ok := d.literal(entry, path+".api_key"); ok {
		if s == "" {
			d.fail(Value, path+".api_key", "must not be empty")
		}
		key, e.KeyEnv, _ = d.expand(s, path+".api_key")
	} else if b.keyEnv != "" {
		key = value(d.getenv, b.keyEnv)
	}
	if b.keyEnv != "" && key == "" {
		unset = e.KeyEnv
	}
	for _, field := range []struct {
		key   string
		to    *string
		check func(string) string
	}{{"model", &e.Model, model}, {"base_url", &e.BaseURL, baseURL}} {
		s, ok := d.literal(entry, path+"."+field.key)
		if !ok {
			continue
		}
		text, name, set := d.expand(s, path+"."+field.key)
		if set {
			d.check(path+"."+field.key, field.check(text))
			*field.to = text
		} else if unset == "" {
			unset = name
		}
	}
	e.Custom = e.BaseURL != "" && strings.TrimRight(e.BaseURL, "/") != strings.TrimRight(b.baseURL, "/")
	if unset != "" {
		e.KeyMissing, e.KeyEnv = true, unset
	} else {
		e.Key = NewSecret(key)
	}
	return e
}

// defaultEngine refuses a name that is not admitted instead of searching with another engine: whoever wrote
// the file is told, rather than whoever reads the results.
func (d *decoder) defaultEngine(doc map[string]any, op Operator) string {
	const path = "default_engine"
	name, ok := d.text(doc, path)
	switch {
	case !ok:
		return ""
	case name == "minimax" || name == "zhipu":
		d.fail(RetiredProvider, path, "this provider is retired and has no successor")
	case name == anthropic || name == gemini:
		d.fail(SettingsOnlyProvider, path, "this engine can be selected in settings/web.search.json only")
	case name == tavily && !op.Admitted(tavily):
		d.fail(Value, path, "tavily needs an entry in engines, or "+EnvTavilyKey)
	case !op.Admitted(name):
		d.fail(Value, path, "must be one of duckduckgo, openai, tavily")
	}
	return name
}

func (d *decoder) llm(doc map[string]any) (provider, base string) {
	if _, ok := doc["llm"]; !ok {
		if provider = value(d.getenv, EnvLLMProvider); provider != "" {
			d.check(EnvLLMProvider, printable(provider, MaxProviderBytes))
		}
		if base = value(d.getenv, EnvLLMBaseURL); base != "" {
			d.check(EnvLLMBaseURL, baseURL(base))
		}
		return provider, base
	}
	llm := d.object(doc, "llm", "provider", "base_url")
	var ok bool
	if provider, ok = d.text(llm, "llm.provider"); ok {
		d.check("llm.provider", printable(provider, MaxProviderBytes))
	}
	if base, ok = d.text(llm, "llm.base_url"); ok {
		d.check("llm.base_url", baseURL(base))
	}
	return provider, base
}

func (d *decoder) network(doc map[string]any) Network {
	obj := d.object(doc, "network", "allow", "fake_ip", "robots", "proxy", "ca_file", "user_agent")
	n := Network{
		Allow:  d.list(obj, "network.allow", allowEntry),
		FakeIP: d.list(obj, "network.fake_ip", cidr),
		Robots: Robots(d.choice(obj, "network.robots", string(RobotsOff), string(RobotsRespect))),
	}
	if s, ok := d.text(obj, "network.proxy"); ok {
		d.check("network.proxy", proxyURL(s))
		n.Proxy = NewSecret(s)
	}
	if s, ok := d.text(obj, "network.ca_file"); ok {
		switch {
		case s == "" || strings.ContainsRune(s, 0):
			d.fail(Value, "network.ca_file", "must be a file's path")
		case !filepath.IsAbs(s):
			s = filepath.Join(d.dir, s)
		}
		n.CAFile = s
	}
	if s, ok := d.text(obj, "network.user_agent"); ok {
		d.check("network.user_agent", userAgent(s))
		n.UserAgent = s
	}
	return n
}

func (d *decoder) limits(doc map[string]any) Limits {
	obj := d.object(doc, "limits", "body_bytes", "fetch_seconds", "search_seconds")
	return Limits{
		BodyBytes: d.integer(obj, "limits.body_bytes", DefaultBodyBytes, MinBodyBytes, MaxBodyBytes, "must be an integer in 1024..104857600"),
		Fetch:     d.seconds(obj, "limits.fetch_seconds", DefaultFetchSeconds),
		Search:    d.seconds(obj, "limits.search_seconds", DefaultSearchSeconds),
	}
}

// The readers below take the object and the full path of the value in it, whose last part is the key.

func lastKey(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// object is nil when the key is absent.
func (d *decoder) object(parent map[string]any, path string, known ...string) map[string]any {
	v, ok := parent[lastKey(path)]
	if !ok {
		return nil
	}
	return d.objectAt(v, path, known...)
}

func (d *decoder) objectAt(v any, path string, known ...string) map[string]any {
	obj, ok := v.(map[string]any)
	if !ok {
		d.fail(Value, path, "must be an object")
		return nil
	}
	d.keys(obj, path, known...)
	return obj
}

// keys names the object and not the key: an unknown key may be a secret in the wrong place.
func (d *decoder) keys(obj map[string]any, path string, known ...string) {
	for k := range obj {
		if !slices.Contains(known, k) {
			d.fail(Value, path, "unknown key; known are "+strings.Join(known, ", "))
			return
		}
	}
}

// literal is a string as the file spells it.
func (d *decoder) literal(obj map[string]any, path string) (string, bool) {
	v, ok := obj[lastKey(path)]
	if !ok {
		return "", false
	}
	s, ok := v.(string)
	if !ok {
		d.fail(Value, path, "must be a string")
	}
	return s, ok
}

// text is a string with its variables put in, all of which must be set.
func (d *decoder) text(obj map[string]any, path string) (string, bool) {
	s, ok := d.literal(obj, path)
	if !ok {
		return "", false
	}
	return d.mustExpand(s, path)
}

func (d *decoder) mustExpand(s, path string) (string, bool) {
	s, name, ok := d.expand(s, path)
	if !ok && d.fault == nil {
		d.fault = &Error{Kind: Value, Path: path, Reason: "the environment variable " + name + " is not set", Variable: name}
	}
	return s, ok
}

// expand puts in the variables of s. name is the first one that is not set, or else the first one at all; ok
// is false when one is not set or s is at fault.
func (d *decoder) expand(s, path string) (text, name string, ok bool) {
	text, first, unset, reason := expand(s, d.getenv)
	if reason != "" {
		d.fail(Value, path, reason)
		return "", first, false
	}
	if unset != "" {
		return "", unset, false
	}
	return text, first, true
}

func (d *decoder) check(path, reason string) {
	if reason != "" {
		d.fail(Value, path, reason)
	}
}

// choice is the first of values when the key is absent.
func (d *decoder) choice(obj map[string]any, path string, values ...string) string {
	s, ok := d.text(obj, path)
	if !ok {
		return values[0]
	}
	if !slices.Contains(values, s) {
		d.fail(Value, path, "must be one of "+strings.Join(values, ", "))
	}
	return s
}

func (d *decoder) list(obj map[string]any, path string, check func(string) string) []string {
	v, ok := obj[lastKey(path)]
	if !ok {
		return nil
	}
	items, ok := v.([]any)
	if !ok {
		d.fail(Value, path, "must be a list")
		return nil
	}
	if len(items) > MaxListEntries {
		d.fail(Value, path, "has more than 1024 entries")
		return nil
	}
	var out []string
	for i, item := range items {
		at := path + "[" + strconv.Itoa(i) + "]"
		s, ok := item.(string)
		if !ok {
			d.fail(Value, at, "must be a string")
			return nil
		}
		if s, ok = d.mustExpand(s, at); ok {
			d.check(at, check(s))
			out = append(out, s)
		}
	}
	return out
}

func (d *decoder) integer(obj map[string]any, path string, missing, lo, hi int64, reason string) int64 {
	v, ok := obj[lastKey(path)]
	if !ok {
		return missing
	}
	n, ok := strictjson.Integer(v, lo, hi)
	if !ok {
		d.fail(Value, path, reason)
	}
	return n
}

func (d *decoder) seconds(obj map[string]any, path string, missing int64) time.Duration {
	n := d.integer(obj, path, missing, MinSeconds, MaxSeconds, "must be an integer in 1..300")
	return time.Duration(n) * time.Second
}

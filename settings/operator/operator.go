// Package operator reads operator.json, the file in which whoever runs web puts keys, permissions to reach
// private addresses, and limits. Start at Locate and Read.
//
// The file is strict: one unknown key, duplicate key or value out of range makes all of it invalid, and the
// error names the JSON path and never a value. The package must not know the envelope, the network or how an
// engine is asked; what it gives is plain data, with every credential inside a Secret.
//
// What the file leaves out is taken from the environment exactly as when there is no file: an engine's key
// from its built-in variable, llm from WEB_LLM_PROVIDER and WEB_LLM_BASE_URL. What the file states stands,
// so a literal api_key is never replaced by a variable that the file does not name.
package operator

import (
	"errors"
	"path/filepath"
	"time"

	"web/settings/safefile"
	"web/settings/strictjson"
)

// Environment variables that are read when the file does not name others. An empty one counts as unset.
const (
	EnvConfig      = "WEB_CONFIG"
	EnvLLMProvider = "WEB_LLM_PROVIDER"
	EnvLLMBaseURL  = "WEB_LLM_BASE_URL"

	EnvOpenAIKey    = "OPENAI_API_KEY"
	EnvAnthropicKey = "ANTHROPIC_API_KEY"
	EnvGeminiKey    = "GEMINI_API_KEY"
	EnvTavilyKey    = "TAVILY_API_KEY"
)

// Limits of the file itself.
const (
	MaxFileBytes     = 256 << 10
	MaxStringBytes   = 8 << 10 // one string, after its variables were put in
	MaxVariableBytes = 128     // a variable's name
	MaxListEntries   = 1024    // network.allow, network.fake_ip

	MaxModelBytes     = 200
	MaxProviderBytes  = 64
	MaxUserAgentBytes = 256
)

// Limits of the limits, and their values when the file is silent.
const (
	DefaultBodyBytes = 10 << 20
	MinBodyBytes     = 1 << 10
	MaxBodyBytes     = 100 << 20

	DefaultFetchSeconds  = 30
	DefaultSearchSeconds = 25
	MinSeconds           = 1
	MaxSeconds           = 300
)

// Names of the engines that the file may configure. The first four are always admitted.
const (
	duckduckgo = "duckduckgo"
	openai     = "openai"
	anthropic  = "anthropic"
	gemini     = "gemini"
	tavily     = "tavily"
)

// Robots says whether robots.txt is asked before a page is fetched.
type Robots string

// The values of network.robots.
const (
	RobotsOff     Robots = "off"
	RobotsRespect Robots = "respect"
)

// SummarizerAuto leaves the choice of the summarizer to the program; the other values are openai, anthropic,
// gemini and extractive.
const SummarizerAuto = "auto"

// Operator is a valid configuration.
type Operator struct {
	// FromFile is false when there was no file and everything comes from the environment or a default.
	FromFile bool
	// DefaultEngine is an admitted engine, or "" when the operator chose none. It is never anthropic or
	// gemini, which only the caller's settings file can select.
	DefaultEngine string
	// BackendIdentity is llm.provider: the name of the provider on which the caller itself runs, as spelled;
	// "" when unknown. It is no search provider, so any name will do.
	BackendIdentity string
	// LLMBaseURL is llm.base_url, or "".
	LLMBaseURL string
	// Engines holds the admitted engines by name: the four built-in ones, and tavily when it is configured.
	Engines    map[string]Engine
	Network    Network
	Limits     Limits
	Summarizer string
	// StoreURL is a postgres URL, or empty for the store inside the workdir.
	StoreURL Secret
}

// Admitted reports whether an engine may be selected at all.
func (o Operator) Admitted(engine string) bool {
	_, ok := o.Engines[engine]
	return ok
}

// Engine is what is known about one admitted engine.
type Engine struct {
	// Configured is true when the file has an entry for it.
	Configured bool
	// Key is empty for duckduckgo and whenever KeyMissing is true.
	Key Secret
	// KeyEnv names the variable from which the key comes or should come; "" for duckduckgo and for a key that
	// stands in the file. When a variable in another field of the entry is what is missing, it names that one.
	KeyEnv string
	// KeyMissing is the wire's credential_missing: the engine cannot be used until KeyEnv is set.
	KeyMissing bool
	// Model is "" for the engine's own default.
	Model string
	// BaseURL is "" for the engine's own default. It is absolute, http or https, without user info, query
	// or fragment, and spelled as in the file.
	BaseURL string
	// Custom is true when BaseURL is other than the provider's official one.
	Custom bool
}

// Network is what the operator says about reaching the web.
type Network struct {
	// Allow admits non-public targets. Each entry is a host name, an IP address, either with a port
	// ("[::1]:80" for IPv6), or a CIDR range without host bits.
	Allow []string
	// FakeIP lists CIDR ranges that are admitted as answers of the resolver only.
	FakeIP []string
	Robots Robots
	// Proxy is an http or https URL of a host and perhaps a port, with user info at most; empty for none.
	Proxy Secret
	// CAFile is a file's path, "" for none; a relative one was joined to the directory of operator.json.
	// Whether it exists is found out when it is used.
	CAFile string
	// UserAgent is "" for the program's own.
	UserAgent string
}

// Limits bound one call.
type Limits struct {
	BodyBytes int64 // of a page, counted on the wire and decoded
	Fetch     time.Duration
	Search    time.Duration
}

// Kind tells apart the ways in which a configuration is refused.
type Kind string

// The kinds.
const (
	// Unreadable: the file could not be read, or was named and is not there.
	Unreadable Kind = "unreadable"
	// Syntax: not one strict JSON value.
	Syntax Kind = "syntax"
	// Value: a key or value that is not admitted.
	Value Kind = "value"
	// RetiredProvider: an engine that existed once and never will again.
	RetiredProvider Kind = "retired_provider"
	// SettingsOnlyProvider: an engine that cannot be the operator's default.
	SettingsOnlyProvider Kind = "settings_only_provider"
)

// Error is one invalid configuration. It holds no value and no key that is not our own.
type Error struct {
	Kind Kind
	// Path is the JSON path of the fault, such as "network.allow[2]", "$" for the root, the name of the
	// environment variable that holds a bad value, or "" when the file as a whole is at fault.
	Path string
	// Reason is a few words.
	Reason string
	// Variable is the name of the environment variable that is not set, when that is the fault.
	Variable string
	// Err is the cause, for errors.Is only; it is never shown.
	Err error
}

func (e *Error) Error() string {
	if e.Path == "" {
		return "operator configuration: " + e.Reason
	}
	return "operator configuration: " + e.Path + ": " + e.Reason
}

func (e *Error) Unwrap() error { return e.Err }

// Getenv looks up an environment variable and says whether it is set, as os.LookupEnv does.
type Getenv = func(name string) (string, bool)

// Location is where the file is looked for.
type Location struct {
	// Path is "" when the environment names no home to look in; there is no file then.
	Path string
	// Explicit is true when somebody named the file, so that its absence is an error.
	Explicit bool
}

// Locate gives the place of the file: the value of --config, else WEB_CONFIG, else web/operator.json below
// XDG_CONFIG_HOME or, as that standard has it, below .config in the home directory.
func Locate(flag string, getenv Getenv) Location {
	if flag != "" {
		return Location{Path: flag, Explicit: true}
	}
	if path := value(getenv, EnvConfig); path != "" {
		return Location{Path: path, Explicit: true}
	}
	dir := value(getenv, "XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) { // the standard says to ignore a relative one
		home := value(getenv, "HOME")
		if home == "" {
			return Location{}
		}
		dir = filepath.Join(home, ".config")
	}
	return Location{Path: filepath.Join(dir, "web", "operator.json")}
}

// Read gives the configuration, or an *Error. The path may be a link to a regular file, which is how files
// below /etc and in containers are often provided; a pipe or device is refused without being waited for.
func Read(at Location, getenv Getenv) (Operator, error) {
	if at.Path == "" {
		return fromEnvironment(getenv)
	}
	r := safefile.Reader{MaxBytes: MaxFileBytes, FollowLink: true}
	data, err := r.Read(at.Path)
	var e *safefile.Error
	switch {
	case err == nil:
		return parse(data, filepath.Dir(at.Path), getenv)
	case !errors.As(err, &e):
		return Operator{}, &Error{Kind: Unreadable, Reason: "the file could not be read", Err: err}
	case e.Problem == safefile.Missing && !at.Explicit:
		return fromEnvironment(getenv)
	case e.Problem == safefile.Missing:
		return Operator{}, &Error{Kind: Unreadable, Reason: "the file that was named is not there", Err: err}
	case e.Problem == safefile.TooLarge:
		return Operator{}, &Error{Kind: Unreadable, Reason: "the file is larger than 256 KiB", Err: err}
	case e.Problem == safefile.NotRegular:
		return Operator{}, &Error{Kind: Unreadable, Reason: "not a regular file, or a link to none", Err: err}
	case e.Problem == safefile.Changed:
		return Operator{}, &Error{Kind: Unreadable, Reason: "the file was changed during read", Err: err}
	}
	return Operator{}, &Error{Kind: Unreadable, Reason: e.Error(), Err: err}
}

// parse reads the content of the file; dir is the directory that relative paths in it start from.
func parse(data []byte, dir string, getenv Getenv) (Operator, error) {
	v, err := strictjson.Parse(data)
	if err != nil {
		return Operator{}, &Error{Kind: Syntax, Reason: err.Error()}
	}
	doc, ok := v.(map[string]any)
	if !ok {
		return Operator{}, &Error{Kind: Value, Path: "$", Reason: "must be an object"}
	}
	d := decoder{getenv: getenv, dir: dir}
	d.version(doc)
	op := d.operator(doc)
	op.FromFile = true
	return d.result(op)
}

func fromEnvironment(getenv Getenv) (Operator, error) {
	d := decoder{getenv: getenv}
	return d.result(d.operator(nil))
}

// value is the variable's value, "" when it is unset.
func value(getenv Getenv, name string) string {
	v, _ := getenv(name)
	return v
}

package action

import (
	"cmp"
	"slices"
	"strings"

	"web/engines"
	"web/settings"
	"web/settings/operator"
)

// CurrentSetting is the wire's current_setting (contract 2.7): what decided this call, and never a key, a key's
// value or an absolute path.
type CurrentSetting struct {
	Engine         *string           `json:"engine"`
	SearchEngine   *string           `json:"search_engine"`
	SelectedEngine *string           `json:"selected_engine"`
	Source         string            `json:"source"`
	Engines        []EngineState     `json:"available_engines"`
	EngineNames    []string          `json:"available_engine_names"`
	EngineStatus   map[string]string `json:"available_engine_status"`
	Revision       string            `json:"settings_revision"`
	Hash           *string           `json:"settings_hash"`
	ChangeHint     string            `json:"change_hint"`
	SettingsError  string            `json:"settings_error,omitzero"`
	// OperatorError says where the operator's file is wrong; nothing networked works until it is mended.
	OperatorError string        `json:"operator_error,omitzero"`
	OutputMax     OutputSetting `json:"output_max_chars"`
}

// OutputSetting is the delivery threshold in force.
type OutputSetting struct {
	// Value is in characters; null when it was not read or is invalid.
	Value         *int    `json:"value"`
	Source        string  `json:"source"`
	Revision      string  `json:"settings_revision"`
	Hash          *string `json:"settings_hash"`
	SettingsError string  `json:"settings_error,omitzero"`
}

// EngineState is one admitted engine.
type EngineState struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	// KeyEnv is the environment variable that would hold the key; only with credential_missing.
	KeyEnv string `json:"api_key_env,omitzero"`
	// Endpoint is "custom" when the operator set the engine's address.
	Endpoint string `json:"endpoint,omitzero"`
}

// Values of CurrentSetting.Source and of an engine's status.
const (
	sourceBuiltIn       = "built_in_default"
	sourceOperator      = "operator_default"
	sourceNotApplicable = "not_applicable"

	engineAvailable         = "available"
	engineCredentialMissing = "credential_missing"
	engineUnavailable       = "unavailable"
	engineInitFailed        = "initialization_failed"
)

// Says is the status in words.
func (e EngineState) Says() string {
	switch e.Status {
	case engineAvailable:
		return "available"
	case engineCredentialMissing:
		return e.KeyEnv + " is not set"
	case engineInitFailed:
		return "could not be initialised"
	}
	return "this program has no such engine"
}

// Remedy is what an operator does about a status, or "" when there is nothing to do.
func (e EngineState) Remedy() string {
	if e.Status == engineCredentialMissing {
		return "set " + e.KeyEnv
	}
	return ""
}

// Available says whether the engine can be asked.
func (e EngineState) Available() bool { return e.Status == engineAvailable }

const changeHint = "edit settings/web.search.json; it takes effect on the next web call; " +
	"for the schema call web(action='manual', input={}, reasoning='load web guidance')"

// noRead is the form of current_setting for calls that read no settings file.
func (r *Runner) noRead() CurrentSetting {
	s := CurrentSetting{
		Source: sourceNotApplicable, Revision: settings.RevisionNotRead, ChangeHint: changeHint,
		OutputMax: OutputSetting{Source: sourceNotApplicable, Revision: settings.RevisionNotRead},
	}
	op, err := r.operator()
	if err != nil {
		s.OperatorError = err.Error()
	}
	s.list(r.engineStates(op, err))
	return s
}

func (s *CurrentSetting) list(states []EngineState) {
	s.Engines = states
	s.EngineNames = make([]string, len(states))
	s.EngineStatus = make(map[string]string, len(states))
	for i, e := range states {
		s.EngineNames[i] = e.Name
		s.EngineStatus[e.Name] = e.Status
	}
}

// engine is the state of an engine; false when it is not admitted.
func (s *CurrentSetting) engine(name string) (EngineState, bool) {
	i := slices.IndexFunc(s.Engines, func(e EngineState) bool { return e.Name == name })
	if i < 0 {
		return EngineState{}, false
	}
	return s.Engines[i], true
}

func (s *CurrentSetting) selectEngine(name string) {
	s.Engine, s.SearchEngine, s.SelectedEngine = nil, nil, nil
	if name != "" {
		s.Engine, s.SearchEngine, s.SelectedEngine = &name, &name, &name
	}
}

// engineStates lists the admitted engines by name. With an invalid operator file nobody knows what would be
// admitted, so the built-in ones are listed as unavailable.
func (r *Runner) engineStates(op operator.Operator, invalid error) []EngineState {
	var out []EngineState
	for _, name := range engines.Names() {
		st := EngineState{Name: name, Status: engineUnavailable}
		if invalid != nil {
			if name != engines.Tavily {
				out = append(out, st)
			}
			continue
		}
		e, admitted := op.Engines[name]
		if !admitted {
			continue
		}
		switch {
		case name != engines.DuckDuckGo && !e.Key.IsSet(), e.KeyMissing:
			st.Status, st.KeyEnv = engineCredentialMissing, e.KeyEnv
		case r.deps.Builders[name] != nil:
			st.Status = engineAvailable
		}
		if e.Custom {
			st.Endpoint = "custom"
		}
		out = append(out, st)
	}
	slices.SortFunc(out, func(a, b EngineState) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// outputSetting is the shared threshold as settings/web.json gives it.
func outputSetting(o settings.Output) OutputSetting {
	s := OutputSetting{Source: o.Source, Revision: o.Revision, Hash: nullable(o.Hash), SettingsError: o.Diagnostic}
	if o.State != settings.Invalid {
		s.Value = &o.MaxChars
	}
	return s
}

// searchSetting fills in what settings/web.search.json or the defaults select, and gives the fault of an invalid
// file.
func (r *Runner) searchSetting(s *CurrentSetting, op operator.Operator) settings.Problem {
	file := settings.ReadSearch(settings.In(r.deps.Workdir), func(name string) bool {
		// Nobody knows what an invalid operator file admits; the file is not to blame for it.
		return slices.Contains(s.EngineNames, name) || s.OperatorError != ""
	})
	s.Revision, s.Hash, s.SettingsError = file.Revision, nullable(file.Hash), file.Diagnostic
	switch file.State {
	case settings.Invalid:
		s.Source = settings.SourceError
	case settings.Valid:
		s.Source = settings.SearchFile
		s.selectEngine(file.Engine)
	default:
		s.Source = sourceBuiltIn
		switch {
		case s.OperatorError != "":
			s.Source = sourceNotApplicable // whether there is another default stands in the invalid file
		case op.DefaultEngine != "":
			s.Source = sourceOperator
			s.selectEngine(op.DefaultEngine)
		case s.EngineStatus[engines.OpenAI] == engineAvailable:
			s.selectEngine(engines.OpenAI)
		default:
			s.selectEngine(engines.DuckDuckGo)
		}
	}
	return file.Problem
}

func nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// eligible reports whether an engine that only the settings file may choose may be used at all: the caller's
// own backend must be that provider, by its exact name.
func eligible(engine string, op operator.Operator) bool {
	return strings.EqualFold(op.BackendIdentity, engine)
}

func settingsOnly(engine string) bool {
	return engine == engines.Anthropic || engine == engines.Gemini
}

package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"web/settings"
	"web/settings/strictjson"
)

// BadPolicy is the problem of a policy with a key or value that is not admitted. The other problems of a
// policy are those of every settings file.
const BadPolicy settings.Problem = "policy"

// Error is why some bytes are no policy. It quotes nothing of them.
type Error struct {
	Problem settings.Problem
	// Path is the JSON path of the fault, such as "permissions[2].tool", "$" for the root, or "" when the
	// text is at fault as a whole.
	Path   string
	Reason string
}

func (e *Error) Error() string {
	if e.Path == "" {
		return e.Reason
	}
	return e.Path + ": " + e.Reason
}

// Parse reads a policy from a file's or a row's bytes. What it leaves out is off, for designer only, and
// within DefaultBudgets. The error is always an *Error, and the policy beside it permits nothing.
func Parse(data []byte) (Policy, error) {
	if len(data) > MaxFileBytes {
		return Policy{}, &Error{Problem: settings.TooLarge, Reason: "is larger than 65,536 bytes"}
	}
	v, err := strictjson.Parse(data)
	if err != nil {
		var e *strictjson.Error
		if errors.As(err, &e) && e.Reason == strictjson.DuplicateKey {
			return Policy{}, &Error{Problem: settings.DuplicateKey, Reason: "has a " + err.Error()}
		}
		return Policy{}, &Error{Problem: settings.BadSyntax, Reason: "is not valid JSON: " + err.Error()}
	}
	d := decoder{}
	p := d.policy(v)
	if d.fault != nil {
		return Policy{}, d.fault
	}
	p.Revision = digest(data)
	return p, nil
}

// decoder keeps the first fault and goes on; what it builds after a fault is thrown away.
type decoder struct{ fault *Error }

func (d *decoder) fail(problem settings.Problem, path, reason string) {
	if d.fault == nil {
		d.fault = &Error{Problem: problem, Path: path, Reason: reason}
	}
}

func (d *decoder) policy(v any) Policy {
	doc := d.object(v, "$", "schema_version", "enabled", "fetch_enabled", "agents", "permissions", "budgets")
	if _, ok := strictjson.Integer(doc["schema_version"], 1, 1); !ok {
		d.fail(settings.BadVersion, "schema_version", "must be the integer 1")
	}
	return Policy{
		Enabled:      d.bool(doc, "enabled"),
		FetchEnabled: d.bool(doc, "fetch_enabled"),
		Agents:       d.agents(doc),
		CheckAgents:  true,
		Permissions:  d.permissions(doc),
		Budgets:      d.budgets(doc),
	}
}

func (d *decoder) agents(doc map[string]any) []string {
	v, ok := doc["agents"]
	if !ok {
		return []string{"designer"}
	}
	out := []string{}
	for i, item := range d.list(v, "agents", MaxAgents) {
		name, _ := item.(string)
		// Agents are spelled as engines are.
		if !settings.EngineName(name) {
			d.fail(BadPolicy, "agents["+strconv.Itoa(i)+"]", "must be a name of 1..64 letters, digits, '.', '_' or '-' that starts with a letter or digit")
		}
		out = append(out, name)
	}
	return out
}

func (d *decoder) permissions(doc map[string]any) []Rule {
	v, ok := doc["permissions"]
	if !ok {
		return nil
	}
	var out []Rule
	for i, item := range d.list(v, "permissions", MaxRules) {
		path := "permissions[" + strconv.Itoa(i) + "]"
		rule := d.object(item, path, "tool", "pattern", "permission")
		r := Rule{
			Tool:       d.choice(rule, path+".tool", search, browse, manual, webSearch, webFetch, AnyTool),
			Permission: Permission(d.choice(rule, path+".permission", string(Allow), string(Deny), string(Ask))),
		}
		r.Pattern, ok = rule["pattern"].(string)
		if !ok || !pattern(r.Pattern) {
			d.fail(BadPolicy, path+".pattern", "must be a text of 1..256 characters without control characters")
		}
		out = append(out, r)
	}
	return out
}

func pattern(s string) bool {
	n := utf8.RuneCountInString(s)
	return 1 <= n && n <= MaxPatternChars && !strings.ContainsFunc(s, unicode.IsControl)
}

func (d *decoder) budgets(doc map[string]any) Budgets {
	b := DefaultBudgets()
	v, ok := doc["budgets"]
	if !ok {
		return b
	}
	keys := make([]string, 0, 7)
	for _, f := range b.fields() {
		keys = append(keys, f.key)
	}
	obj := d.object(v, "budgets", keys...)
	for _, f := range b.fields() {
		v, ok := obj[f.key]
		if !ok {
			continue
		}
		n, ok := strictjson.Integer(v, f.least, f.most)
		if !ok {
			d.fail(BadPolicy, "budgets."+f.key, "must be an integer in "+strconv.FormatInt(f.least, 10)+".."+strconv.FormatInt(f.most, 10))
		}
		f.set(n)
	}
	return b
}

// field is one key of budgets: what it may be, and how it is read and written.
type field struct {
	key         string
	least, most int64
	get         func() int64
	set         func(int64)
}

func (b *Budgets) fields() []field {
	count := func(key string, to *int, least, most int64) field {
		return field{key, least, most, func() int64 { return int64(*to) }, func(n int64) { *to = int(n) }}
	}
	return []field{
		count("search_per_step", &b.SearchPerStep, 0, MaxQuota),
		count("search_per_run", &b.SearchPerRun, 0, MaxQuota),
		count("fetch_per_step", &b.FetchPerStep, 0, MaxQuota),
		count("fetch_per_run", &b.FetchPerRun, 0, MaxQuota),
		count("search_active", &b.SearchActive, MinActive, MaxActive),
		count("fetch_active", &b.FetchActive, MinActive, MaxActive),
		{
			"search_interval_ms", 0, MaxInterval.Milliseconds(),
			func() int64 { return b.SearchInterval.Milliseconds() },
			func(n int64) { b.SearchInterval = time.Duration(n) * time.Millisecond },
		},
	}
}

func (d *decoder) object(v any, path string, known ...string) map[string]any {
	obj, ok := v.(map[string]any)
	if !ok {
		d.fail(BadPolicy, path, "must be an object")
		return nil
	}
	for key := range obj {
		if !slices.Contains(known, key) {
			d.fail(settings.BadKeys, path, "unknown key; known are "+strings.Join(known, ", "))
		}
	}
	return obj
}

func (d *decoder) list(v any, path string, most int) []any {
	items, ok := v.([]any)
	if !ok {
		d.fail(BadPolicy, path, "must be a list")
	}
	if len(items) > most {
		d.fail(BadPolicy, path, "has more than "+strconv.Itoa(most)+" entries")
		return nil
	}
	return items
}

func (d *decoder) bool(doc map[string]any, key string) bool {
	v, ok := doc[key]
	if !ok {
		return false
	}
	b, ok := v.(bool)
	if !ok {
		d.fail(BadPolicy, key, "must be true or false")
	}
	return b
}

func (d *decoder) choice(obj map[string]any, path string, values ...string) string {
	s, _ := obj[path[strings.LastIndexByte(path, '.')+1:]].(string)
	if !slices.Contains(values, s) {
		d.fail(BadPolicy, path, "must be one of "+strings.Join(values, ", "))
	}
	return s
}

// wireRule fixes the order of a rule's keys.
type wireRule struct {
	Tool       string     `json:"tool"`
	Pattern    string     `json:"pattern"`
	Permission Permission `json:"permission"`
}

// Encode gives the policy as the text of a file or row, every key written out, two spaces of indentation and
// a final newline. Parse gives the same policy back, but for its revision and for CheckAgents, which is
// always set by a policy that is present.
func (p Policy) Encode() []byte {
	doc := struct {
		Version     int            `json:"schema_version"`
		Enabled     bool           `json:"enabled"`
		Fetch       bool           `json:"fetch_enabled"`
		Agents      []string       `json:"agents"`
		Permissions []wireRule     `json:"permissions"`
		Budgets     orderedBudgets `json:"budgets"`
	}{1, p.Enabled, p.FetchEnabled, append([]string{}, p.Agents...), []wireRule{}, orderedBudgets(p.Budgets)}
	for _, r := range p.Permissions {
		doc.Permissions = append(doc.Permissions, wireRule(r))
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		panic(err) // only a type that JSON does not know can fail here, and there is none
	}
	return b.Bytes()
}

// orderedBudgets writes the keys in the order of fields, which also reads them.
type orderedBudgets Budgets

func (o orderedBudgets) MarshalJSON() ([]byte, error) {
	b := Budgets(o)
	out := []byte{'{'}
	for i, f := range b.fields() {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, `"`+f.key+`":`...)
		out = strconv.AppendInt(out, f.get(), 10)
	}
	return append(out, '}'), nil
}

// digest is the first 32 hex digits of the SHA-256 of data, as for the other settings files.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

package settings

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var longAgo = time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)

// workdir gives a workdir with these settings files; names are SearchFile or OutputFile.
func workdir(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "settings"), 0o700))
	for name, content := range files {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	return dir
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func builtIn(name string) bool {
	return slices.Contains([]string{"anthropic", "duckduckgo", "gemini", "openai"}, name)
}

const (
	validSearch = `{"schema_version":1,"engine":"duckduckgo"}`
	validOutput = `{"schema_version":1,"max_chars":50000}`

	searchRevision = "5bc46304d6d2e21f10ab008888ecfab3"
	outputRevision = "7635249e0779a5289a4121c6c16fba0e"
	defaultHash    = "e5a60733d6ba598cdf19314c1627b1bc"
)

func TestMissing(t *testing.T) {
	wantOutput := Output{Snapshot{State: Missing, Source: "default", Revision: "default", Hash: defaultHash}, 50000}
	wantSearch := Search{Snapshot{State: Missing, Revision: "missing"}, ""}
	empty := t.TempDir() // without a settings directory
	for _, dir := range []string{workdir(t, nil), empty, empty} {
		if diff := cmp.Diff(wantOutput, ReadOutput(In(dir))); diff != "" {
			t.Errorf("output (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(wantSearch, ReadSearch(In(dir), builtIn)); diff != "" {
			t.Errorf("search (-want +got):\n%s", diff)
		}
	}
}

func TestValid(t *testing.T) {
	dir := In(workdir(t, map[string]string{SearchFile: validSearch, OutputFile: validOutput}))
	wantOutput := Output{Snapshot{State: Valid, Source: "settings/web.json", Revision: outputRevision, Hash: outputRevision}, 50000}
	if diff := cmp.Diff(wantOutput, ReadOutput(dir)); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	wantSearch := Search{Snapshot{State: Valid, Source: "settings/web.search.json", Revision: searchRevision, Hash: searchRevision}, "duckduckgo"}
	if diff := cmp.Diff(wantSearch, ReadSearch(dir, builtIn)); diff != "" {
		t.Errorf("search (-want +got):\n%s", diff)
	}
	for _, n := range []string{"1", "7", "100000"} {
		got := ReadOutput(In(workdir(t, map[string]string{OutputFile: " {\"max_chars\":\n" + n + ",\"schema_version\":1}\r\n"})))
		if got.State != Valid || got.MaxChars == 0 || got.MaxChars == DefaultMaxChars {
			t.Errorf("max_chars %s: %+v", n, got)
		}
	}
}

// TestEveryStateAnew: valid, broken, valid again; nothing is remembered.
func TestEveryStateAnew(t *testing.T) {
	dir := workdir(t, nil)
	var got []string
	for _, content := range []string{validSearch, validSearch + "x", validSearch} {
		must(t, os.WriteFile(filepath.Join(dir, SearchFile), []byte(content), 0o600))
		s := ReadSearch(In(dir), builtIn)
		got = append(got, string(s.State)+" "+s.Engine+" "+s.Source)
		if s.State == Valid && s.Revision != searchRevision {
			t.Errorf("revision %s", s.Revision)
		}
	}
	want := []string{"valid duckduckgo settings/web.search.json", "invalid  settings_error", "valid duckduckgo settings/web.search.json"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestInvalidContent(t *testing.T) {
	digits := strings.Repeat("9", 60000)
	deep := strings.Repeat("[", 30000)
	for _, tt := range []struct {
		name, file, content string
		problem             Problem
	}{
		{"empty", SearchFile, "", BadSyntax},
		{"version true", SearchFile, `{"schema_version":true,"engine":"duckduckgo"}`, BadVersion},
		{"version 1.0", SearchFile, `{"schema_version":1.0,"engine":"duckduckgo"}`, BadVersion},
		{"version 2", SearchFile, `{"schema_version":2,"engine":"duckduckgo"}`, BadVersion},
		{"version null", SearchFile, `{"schema_version":null,"engine":"duckduckgo"}`, BadVersion},
		{"version as text", SearchFile, `{"schema_version":"1","engine":"duckduckgo"}`, BadVersion},
		{"extra key", SearchFile, `{"schema_version":1,"engine":"duckduckgo","x":1}`, BadKeys},
		{"duplicate key", SearchFile, `{"schema_version":1,"engine":"duckduckgo","engine":"duckduckgo"}`, DuplicateKey},
		{"duplicate key below", SearchFile, `{"schema_version":1,"engine":{"a":1,"a":2}}`, DuplicateKey},
		{"no engine", SearchFile, `{"schema_version":1}`, BadKeys},
		{"no version", SearchFile, `{"engine":"duckduckgo"}`, BadKeys},
		{"key in another case", SearchFile, `{"schema_version":1,"Engine":"duckduckgo"}`, BadKeys},
		{"array", SearchFile, `[1]`, BadKeys},
		{"null", SearchFile, `null`, BadKeys},
		{"engine null", SearchFile, `{"schema_version":1,"engine":null}`, BadEngineName},
		{"engine empty", SearchFile, `{"schema_version":1,"engine":""}`, BadEngineName},
		{"engine with a slash", SearchFile, `{"schema_version":1,"engine":"bad/name"}`, BadEngineName},
		{"engine in another case", SearchFile, `{"schema_version":1,"engine":"DuckDuckGo"}`, EngineNotAdmitted},
		{"engine not admitted", SearchFile, `{"schema_version":1,"engine":"minimax"}`, EngineNotAdmitted},
		{"byte-order mark", SearchFile, "\ufeff" + validSearch, BadSyntax},
		{"invalid UTF-8", SearchFile, `{"schema_version":1,"engine":"` + "\xff" + `"}`, BadSyntax},
		{"trailing text", SearchFile, validSearch + " x", BadSyntax},
		{"trailing comma", SearchFile, `{"schema_version":1,"engine":"duckduckgo",}`, BadSyntax},
		{"comment", SearchFile, "// c\n" + validSearch, BadSyntax},
		{"single quotes", SearchFile, `{'schema_version':1,'engine':'duckduckgo'}`, BadSyntax},
		{"deep nesting", SearchFile, deep, BadSyntax},
		{"deep nesting in a value", SearchFile, `{"schema_version":1,"engine":` + deep, BadSyntax},
		{"huge number", SearchFile, `{"schema_version":` + digits + `,"engine":"duckduckgo"}`, BadVersion},
		{"too large", SearchFile, validSearch + strings.Repeat(" ", MaxFileBytes+1-len(validSearch)), TooLarge},
		{"max_chars 0", OutputFile, `{"schema_version":1,"max_chars":0}`, BadMaxChars},
		{"max_chars -0", OutputFile, `{"schema_version":1,"max_chars":-0}`, BadMaxChars},
		{"max_chars -1", OutputFile, `{"schema_version":1,"max_chars":-1}`, BadMaxChars},
		{"max_chars 100001", OutputFile, `{"schema_version":1,"max_chars":100001}`, BadMaxChars},
		{"max_chars 10^9", OutputFile, `{"schema_version":1,"max_chars":1000000000}`, BadMaxChars},
		{"max_chars true", OutputFile, `{"schema_version":1,"max_chars":true}`, BadMaxChars},
		{"max_chars false", OutputFile, `{"schema_version":1,"max_chars":false}`, BadMaxChars},
		{"max_chars as text", OutputFile, `{"schema_version":1,"max_chars":"50000"}`, BadMaxChars},
		{"max_chars 50000.0", OutputFile, `{"schema_version":1,"max_chars":50000.0}`, BadMaxChars},
		{"max_chars 5e4", OutputFile, `{"schema_version":1,"max_chars":5e4}`, BadMaxChars},
		{"max_chars null", OutputFile, `{"schema_version":1,"max_chars":null}`, BadMaxChars},
		{"max_chars list", OutputFile, `{"schema_version":1,"max_chars":[50000]}`, BadMaxChars},
		{"max_chars huge", OutputFile, `{"schema_version":1,"max_chars":` + digits + `}`, BadMaxChars},
		{"output with an extra key", OutputFile, `{"schema_version":1,"max_chars":5,"x":1}`, BadKeys},
		{"output without max_chars", OutputFile, `{"schema_version":1}`, BadKeys},
		{"output shaped like the selector", OutputFile, validSearch, BadKeys},
		{"output too large", OutputFile, validOutput + strings.Repeat(" ", MaxFileBytes+1-len(validOutput)), TooLarge},
	} {
		t.Run(tt.name, func(t *testing.T) {
			snapshot, engine, chars := readEither(In(workdir(t, map[string]string{tt.file: tt.content})), tt.file)
			hash := digest([]byte(tt.content[:min(len(tt.content), MaxFileBytes)]))
			want := Snapshot{State: Invalid, Source: "settings_error", Revision: hash, Hash: hash, Problem: tt.problem, Diagnostic: snapshot.Diagnostic}
			if diff := cmp.Diff(want, snapshot); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if engine != "" || chars != 0 {
				t.Errorf("value %q, %d beside an invalid file", engine, chars)
			}
			checkDiagnostic(t, tt.file, snapshot.Diagnostic)
		})
	}
}

func TestGreatestSizeIsValid(t *testing.T) {
	pad := func(s string) string { return s + strings.Repeat(" ", MaxFileBytes-len(s)) }
	dir := In(workdir(t, map[string]string{SearchFile: pad(validSearch), OutputFile: pad(validOutput)}))
	if s := ReadSearch(dir, builtIn); s.State != Valid || s.Engine != "duckduckgo" {
		t.Errorf("search: %+v", s)
	}
	if o := ReadOutput(dir); o.State != Valid || o.MaxChars != 50000 {
		t.Errorf("output: %+v", o)
	}
}

func TestInvalidFile(t *testing.T) {
	for _, file := range []string{SearchFile, OutputFile} {
		content := validSearch
		if file == OutputFile {
			content = validOutput
		}
		denied := func(string) (fs.File, error) { return nil, &fs.PathError{Err: syscall.EACCES} }
		for _, tt := range []struct {
			name    string
			make    func(path string) (Dir, error)
			problem Problem
			hashed  bool
		}{
			{"link to a valid file", func(p string) (Dir, error) {
				must(t, os.Rename(p, p+".real"))
				return Dir{}, os.Symlink(p+".real", p)
			}, NotRegular, false},
			{"directory", func(p string) (Dir, error) { must(t, os.Remove(p)); return Dir{}, os.Mkdir(p, 0o700) }, NotRegular, false},
			{"device", func(p string) (Dir, error) { must(t, os.Remove(p)); return Dir{}, os.Symlink("/dev/zero", p) }, NotRegular, false},
			{"no permission", func(string) (Dir, error) { return Dir{open: denied}, nil }, Unreadable, false},
			{"changed", func(string) (Dir, error) {
				return Dir{open: func(p string) (fs.File, error) {
					f, err := os.Open(p)
					return f, errors.Join(err, os.Chtimes(p, longAgo, longAgo))
				}}, nil
			}, Changed, true},
		} {
			t.Run(file+" "+tt.name, func(t *testing.T) {
				wd := workdir(t, map[string]string{file: content})
				dir, err := tt.make(filepath.Join(wd, file))
				must(t, err)
				dir.workdir = wd
				got, engine, chars := readEither(dir, file)
				want := Snapshot{State: Invalid, Source: "settings_error", Revision: "error", Problem: tt.problem, Diagnostic: got.Diagnostic}
				if tt.hashed {
					want.Revision, want.Hash = digest([]byte(content)), digest([]byte(content))
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if engine != "" || chars != 0 {
					t.Errorf("value %q, %d beside an invalid file", engine, chars)
				}
				checkDiagnostic(t, file, got.Diagnostic)
				if strings.Contains(got.Diagnostic, wd) {
					t.Errorf("diagnostic shows the absolute path: %s", got.Diagnostic)
				}
			})
		}
	}
}

// TestLinkedDirectory: only the file itself may not be a link.
func TestLinkedDirectory(t *testing.T) {
	wd, shared := t.TempDir(), workdir(t, map[string]string{SearchFile: validSearch})
	must(t, os.Symlink(filepath.Join(shared, "settings"), filepath.Join(wd, "settings")))
	if s := ReadSearch(In(wd), builtIn); s.State != Valid {
		t.Errorf("%+v", s)
	}
}

// TestDiagnosticsAreDistinct holds the wording of every kind, and that no two kinds share one.
func TestDiagnosticsAreDistinct(t *testing.T) {
	at := func(content string) string {
		s, _, _ := readEither(In(workdir(t, map[string]string{SearchFile: content})), SearchFile)
		return s.Diagnostic
	}
	got := []string{
		at(`{"schema_version":1,"engine":"a","engine":"b"}`),
		at(`{}`),
		at(`{"schema_version":2,"engine":"a"}`),
		at(`{"schema_version":1,"engine":"-"}`),
		at(`{"schema_version":1,"engine":"a"}`),
		at("{\n\"é\" x"),
		at("\xff"),
		at(strings.Repeat(" ", MaxFileBytes+1)),
		ReadOutput(In(workdir(t, map[string]string{OutputFile: `{"schema_version":1,"max_chars":0}`}))).Diagnostic,
	}
	want := []string{
		"settings/web.search.json has a duplicate key at line 1, column 34",
		"settings/web.search.json must be an object with exactly the keys schema_version and engine",
		"settings/web.search.json: schema_version must be the integer 1",
		"settings/web.search.json: engine must be a name of 1..64 letters, digits, '.', '_' or '-' that starts with a letter or digit",
		"settings/web.search.json: engine names an engine that is not admitted here",
		"settings/web.search.json is not valid JSON: JSON syntax error at line 2, column 5",
		"settings/web.search.json is not valid JSON: invalid UTF-8 at line 1, column 1",
		"settings/web.search.json is larger than 65,536 bytes",
		"settings/web.json: max_chars must be an integer in 1..100000",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLine(t *testing.T) {
	got := line("a\nb\r\n" + strings.Repeat("é", 300))
	if want := "a b  " + strings.Repeat("é", 235); got != want {
		t.Errorf("got %q", got)
	}
}

func TestEngineName(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "0": true, "A.b_c-9": true, strings.Repeat("a", 64): true,
		"": false, strings.Repeat("a", 65): false, ".a": false, "-a": false, "_a": false, "a b": false, "a/b": false, "a\n": false, "é": false,
	} {
		if got := EngineName(name); got != want {
			t.Errorf("EngineName(%q) = %v", name, got)
		}
	}
}

func readEither(dir Dir, file string) (Snapshot, string, int) {
	if file == SearchFile {
		s := ReadSearch(dir, builtIn)
		return s.Snapshot, s.Engine, 0
	}
	o := ReadOutput(dir)
	return o.Snapshot, "", o.MaxChars
}

func checkDiagnostic(t *testing.T, file, diagnostic string) {
	t.Helper()
	if !strings.HasPrefix(diagnostic, file) || utf8.RuneCountInString(diagnostic) > MaxDiagnosticChars || strings.ContainsAny(diagnostic, "\r\n") {
		t.Errorf("diagnostic %q", diagnostic)
	}
}

// Fuzzing: '@' in the input stands for the marker, so that mutation keeps it whole.
const marker = "s3cr3t-m4rker+"

func seeds(f *testing.F) {
	for _, s := range []string{
		validSearch, validOutput, `{"schema_version":1,"engine":"@"}`, `{"schema_version":1,"max_chars":"@"}`,
		`{"@":1,"@":2}`, `{"schema_version":@}`, `{"schema_version":1,"engine":"duckduckgo"}@`, "\ufeff{}",
		`{"schema_version":1,"max_chars":99999999999999999999}`, "[[[[[[", "{\"@\n\xff",
	} {
		f.Add([]byte(s))
	}
}

func checkFault(t *testing.T, name string, flt *fault) {
	t.Helper()
	diagnostic := line(name + flt.text)
	checkDiagnostic(t, name, diagnostic)
	if strings.Contains(diagnostic, marker) {
		t.Fatalf("diagnostic quotes the file: %q", diagnostic)
	}
	if flt.problem == "" {
		t.Fatal("fault without a problem")
	}
}

func FuzzParseSearch(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		data = []byte(strings.ReplaceAll(string(data), "@", marker))
		name, flt := parseSearch(data, builtIn)
		if flt != nil {
			checkFault(t, SearchFile, flt)
		} else if !builtIn(name) {
			t.Fatalf("engine %q", name)
		}
	})
}

func FuzzParseOutput(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		data = []byte(strings.ReplaceAll(string(data), "@", marker))
		n, flt := parseOutput(data)
		if flt != nil {
			checkFault(t, OutputFile, flt)
		} else if n < MinMaxChars || n > MaxMaxChars {
			t.Fatalf("max_chars %d", n)
		}
	})
}

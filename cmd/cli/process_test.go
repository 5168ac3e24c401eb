package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"web/action"
	"web/browse/refs"
	"web/spill"
	"web/spill/confined"
)

// world is a working directory, an engine and an operator file that points at it.
type world struct {
	dir, config string
	engine      testEngine
}

func newWorld(t testing.TB, settings string) world {
	t.Helper()
	srv := engine()
	t.Cleanup(srv.Close)
	w := world{dir: t.TempDir(), engine: srv}
	w.config = operatorFile(t, t.TempDir(), srv.URL+"/html/")
	if settings != "" {
		if err := os.Mkdir(filepath.Join(w.dir, "settings"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(w.dir, "settings/web.json"), []byte(settings), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// web prepares a process that searches for query through the envelope.
func (w world) web(query string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.Command("web", "--workdir", w.dir, "--config", w.config)
	envelope, _ := json.Marshal(map[string]any{"action": "search", "input": map[string]any{"query": query}, "reasoning": "test"})
	cmd.Stdin = bytes.NewReader(envelope)
	var out bytes.Buffer
	cmd.Stdout = &out
	return cmd, &out
}

// items is what an artifact of a search holds.
type item struct {
	URL     string  `json:"url"`
	LinkRef *string `json:"link_ref"`
}

func (w world) resolve(t *testing.T, ref string) string {
	t.Helper()
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	table := refs.Table{Name: "refs-search", Open: func(create bool) (*os.Root, error) {
		return confined.OpenDir(root, action.StateDir, create)
	}}
	url, _, err := table.Resolve(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return url
}

func TestManyProcessesInOneWorkdir(t *testing.T) {
	const processes, results = 200, 20 // 4,000 refs: within the budget, so all of them must be there afterwards
	w := newWorld(t, `{"schema_version":1,"max_chars":500}`)
	var (
		wg   sync.WaitGroup
		outs [processes]*bytes.Buffer
		errs [processes]error
	)
	for i := range processes {
		cmd, out := w.web(fmt.Sprintf("each %d", i))
		outs[i] = out
		wg.Go(func() { errs[i] = cmd.Run() })
	}
	wg.Wait()
	refsSeen := map[string]string{}
	for i := range processes {
		if errs[i] != nil {
			t.Fatalf("process %d: %v, stdout %s", i, errs[i], outs[i])
		}
		var a struct {
			Status   string `json:"status"`
			Count    int    `json:"count"`
			FilePath string `json:"file_path"`
			SHA256   string `json:"content_sha256"`
			Warnings []string
		}
		if err := json.Unmarshal(outs[i].Bytes(), &a); err != nil {
			t.Fatalf("process %d: %v", i, err)
		}
		if a.Status != "ok" || a.Count != results || a.Warnings != nil {
			t.Fatalf("process %d answered %s", i, outs[i])
		}
		data, err := os.ReadFile(filepath.Join(w.dir, filepath.FromSlash(a.FilePath)))
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != a.SHA256 {
			t.Errorf("process %d: the artifact's hash differs", i)
		}
		var items []item
		if err := json.Unmarshal(data, &items); err != nil {
			t.Fatal(err)
		}
		for _, it := range items {
			refsSeen[*it.LinkRef] = it.URL
		}
	}
	if len(refsSeen) != processes*results {
		t.Errorf("%d different refs, want %d", len(refsSeen), processes*results)
	}
	for ref, url := range refsSeen {
		if got := w.resolve(t, ref); got != url {
			t.Fatalf("%s resolves to %q, want %q", ref, got, url)
		}
	}
}

func TestKilledProcessesLeaveNothingTorn(t *testing.T) {
	const processes, results = 100, 1500
	w := newWorld(t, `{"schema_version":1,"max_chars":500}`)
	for range processes {
		cmd, _ := w.web(fmt.Sprintf("results %d", results))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// Anywhere between the start of the process and its end; what is asserted does not depend on where.
		kill := time.AfterFunc(time.Duration(rand.IntN(80))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		kill.Stop()
	}
	dir := filepath.Join(w.dir, filepath.FromSlash(spill.Dir))
	files, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	whole := regexp.MustCompile(`^\d{8}T\d{6}-web-search-[0-9a-f]{6}\.json$`)
	complete := 0
	for _, f := range files {
		if strings.HasPrefix(f.Name(), ".") {
			continue // unfinished, and named as such
		}
		if !whole.MatchString(f.Name()) {
			t.Errorf("unknown file %s", f.Name())
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		var items []item
		if err := json.Unmarshal(data, &items); err != nil || len(items) != results {
			t.Errorf("%s is torn: %d items, %v", f.Name(), len(items), err)
		}
		complete++
	}
	t.Logf("%d of %d processes wrote their artifact before they were killed", complete, processes)

	// The directory is as usable as before.
	cmd, out := w.web("results 3")
	if err := cmd.Run(); err != nil {
		t.Fatalf("after the kills: %v, %s", err, out)
	}
	var a struct {
		FilePath string `json:"file_path"`
		Warnings []string
	}
	if err := json.Unmarshal(out.Bytes(), &a); err != nil || a.Warnings != nil {
		t.Fatalf("after the kills: %v, %s", err, out)
	}
	data, err := os.ReadFile(filepath.Join(w.dir, filepath.FromSlash(a.FilePath)))
	if err != nil {
		t.Fatal(err)
	}
	var items []item
	if err := json.Unmarshal(data, &items); err != nil {
		t.Fatal(err)
	}
	for _, it := range items {
		if got := w.resolve(t, *it.LinkRef); got != it.URL {
			t.Errorf("%s resolves to %q, want %q", *it.LinkRef, got, it.URL)
		}
	}
}

func TestSignalsEndTheCall(t *testing.T) {
	for signal, status := range map[os.Signal]int{os.Interrupt: exitInterrupted, syscall.SIGTERM: exitTerminated} {
		w := newWorld(t, "")
		cmd, out := w.web("hang")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-w.engine.hanging
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); got != status {
			t.Errorf("%v while the engine hangs: exit status %d, want %d", signal, got, status)
		}
		var a struct{ Status string }
		if err := json.Unmarshal(out.Bytes(), &a); err != nil || a.Status != "failed" {
			t.Errorf("%v while the engine hangs: stdout %q", signal, out)
		}

		// A writer that never ends its envelope does not hold the process either.
		waiting := exec.Command("web", "--workdir", w.dir)
		stdin, err := waiting.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := waiting.Start(); err != nil {
			t.Fatal(err)
		}
		// The write returns once the pipe has room, so the process may still be starting: a signal before its
		// handler is installed ends it as well, with the signal itself.
		if _, err := stdin.Write([]byte("{")); err != nil {
			t.Fatal(err)
		}
		if err := waiting.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		_ = waiting.Wait()
		if waiting.ProcessState.Success() {
			t.Errorf("%v while stdin is open: success", signal)
		}
	}
}

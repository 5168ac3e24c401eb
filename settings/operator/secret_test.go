package operator

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
)

func TestSecretIsNeverShown(t *testing.T) {
	const text = "hunter2hunter2"
	type wrapped struct{ hidden Secret } // unexported: fmt reaches its fields, but none of its methods
	s := NewSecret(text)
	var shown []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%p", "%t", "%T"} {
		for _, v := range []any{s, &s, wrapped{s}, &wrapped{s}, []Secret{s}, map[string]Secret{"k": s}, Engine{Key: s}, Operator{StoreURL: s}, any(s)} {
			shown = append(shown, fmt.Sprintf(verb, v))
		}
	}
	shown = append(shown, s.String(), s.GoString(), fmt.Sprint(s), fmt.Errorf("%w: %v", fmt.Errorf("x"), s).Error())
	for _, marshal := range []func(any) ([]byte, error){json.Marshal, xml.Marshal, func(v any) ([]byte, error) { return jsonv2.Marshal(v) }} {
		for _, v := range []any{s, &s, Engine{Key: s}} {
			b, err := marshal(v)
			must(t, err)
			shown = append(shown, string(b))
		}
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "k", s, "e", Engine{Key: s})
	slog.New(slog.NewTextHandler(&log, nil)).Info("m", "k", s, "e", Engine{Key: s})
	shown = append(shown, log.String())

	hexed := fmt.Sprintf("%x", text)
	for _, out := range shown {
		if strings.Contains(out, text) || strings.Contains(strings.ToLower(out), hexed) || strings.Contains(out, "104 117 110") {
			t.Errorf("shown: %s", out)
		}
	}
	if s.Reveal() != text || !s.IsSet() {
		t.Errorf("Reveal() = %q, IsSet() = %v", s.Reveal(), s.IsSet())
	}
}

func TestSecretEqual(t *testing.T) {
	var empty Secret
	if empty.IsSet() || NewSecret("").IsSet() || empty.Reveal() != "" || !empty.Equal(NewSecret("")) {
		t.Error("an empty secret is set")
	}
	if !NewSecret("a").Equal(NewSecret("a")) || NewSecret("a").Equal(NewSecret("b")) {
		t.Error("Equal does not compare the texts")
	}
}

package operator

import (
	"fmt"
	"io"
	"log/slog"
)

// hidden is what every form of printing shows of a Secret.
const hidden = "[secret]"

// Secret holds a text that no form of printing, logging or marshalling shows. The zero value is empty.
type Secret struct {
	// A pointer, because fmt cannot call methods on unexported fields: inside a struct of somebody else it
	// would print a string, but of a pointer only the address.
	text *string
}

// NewSecret hides s.
func NewSecret(s string) Secret {
	if s == "" {
		return Secret{}
	}
	return Secret{&s}
}

// Reveal gives the text to the one who has to send it.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsSet reports whether there is a text at all.
func (s Secret) IsSet() bool { return s.text != nil }

// Equal compares the texts; == would compare where they lie.
func (s Secret) Equal(other Secret) bool { return s.Reveal() == other.Reveal() }

func (s Secret) String() string { return hidden }

// GoString keeps %#v from printing the field.
func (s Secret) GoString() string { return hidden }

// Format answers every verb alike.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// MarshalJSON marks the place, rather than leave an empty object there.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + hidden + `"`), nil }

// LogValue serves log/slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

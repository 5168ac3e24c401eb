package action

import "web/browse/fault"

// Code is a wire error_code. Codes of the page pipeline are declared in package fault; every other code
// stands here. The list is append-only.
type Code = fault.Code

// The codes.
const (
	EnvelopeInvalid Code = "ENVELOPE_INVALID"
	ActionRequired  Code = "ACTION_REQUIRED"
	InvalidArgument Code = "INVALID_ARGUMENT"

	WorkdirInvalid        Code = "WORKDIR_INVALID"
	OperatorConfigInvalid Code = "OPERATOR_CONFIG_INVALID"
	OutputSettingsInvalid Code = "WEB_OUTPUT_SETTINGS_INVALID"
	SearchSettingsInvalid Code = "WEB_SETTINGS_INVALID"

	InvalidQuery            Code = "INVALID_QUERY"
	SearchEngineUnavailable Code = "SEARCH_ENGINE_UNAVAILABLE"
	BackendIneligible       Code = "PROVIDER_BACKEND_INELIGIBLE"
	SearchFailed            Code = "SEARCH_FAILED"

	ArtifactWriteFailed Code = "ARTIFACT_WRITE_FAILED"
)

// Warning is a wire warning token: the call succeeded, and this is what the caller should know.
type Warning = string

// Warnings that package action itself raises.
const (
	// RefsNotStored: the refs of this answer could not be kept, so the URL has to be used: a search gives null for
	// link_ref, and the refs of a page's links resolve only where they were known before.
	RefsNotStored Warning = "REFS_NOT_STORED"
)

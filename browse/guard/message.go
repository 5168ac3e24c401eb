package guard

import "web/browse/fault"

// The recommended actions of contract section 4.12 that this package gives.
const (
	AdvicePublic = "use a public direct URL and do not retry"
	AdviceRetry  = "retry once"
)

func policyFault(code fault.Code, message string) *fault.Error {
	return fault.New(code, message, AdvicePublic)
}

func malformed(message string) *fault.Error { return policyFault(fault.MalformedURL, message) }

// notPublic is the one message of all address classes: which class it was is in the code, and nothing about
// the inside of a network is in the words.
func notPublic(code fault.Code) *fault.Error {
	return policyFault(code, "the destination is not a public address")
}

// fakeAnswer tells the operator what to do when every public name would be refused.
func fakeAnswer(code fault.Code) *fault.Error {
	return policyFault(code, "the destination is not a public address: the local resolver answers with a fake-IP range, as some VPN and proxy "+
		"programs do; the operator can list that range in network.fake_ip")
}

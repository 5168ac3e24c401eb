package exchange

import "net/http"

// ClientClass names a fault as OpenAI's own client library does; it may serve as a Provider's Class.
func ClientClass(f Fault) string {
	switch f.Kind {
	case Status:
		return statusClass(f.Status)
	case Redirected:
		return "APIStatusError"
	case ConnectTimeout, Timeout:
		return "APITimeoutError"
	case Garbled, TooLarge:
		return "APIResponseValidationError"
	case Cancelled:
		return "cancelled"
	case BadKey:
		return "AuthenticationError"
	default:
		return "APIConnectionError"
	}
}

func statusClass(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "BadRequestError"
	case http.StatusUnauthorized:
		return "AuthenticationError"
	case http.StatusForbidden:
		return "PermissionDeniedError"
	case http.StatusNotFound:
		return "NotFoundError"
	case http.StatusConflict:
		return "ConflictError"
	case http.StatusUnprocessableEntity:
		return "UnprocessableEntityError"
	case http.StatusTooManyRequests:
		return "RateLimitError"
	}
	if status >= 500 {
		return "InternalServerError"
	}
	return "APIStatusError"
}

// Package sdk is what the author of a provider imports.
package sdk

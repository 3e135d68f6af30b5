// Package processes finds the processes that belong to a provider, also those that have left its family.
package processes

// Package install keeps the providers of this machine: it unpacks what was downloaded, and puts it into the cache so
// that a copy there is whole or not there at all.
//
//	archive ── Stage ──► hidden folder, fsync ── Commit ──► SOURCE/VERSION/PLATFORM/CHECKSUM
//	                                                            │
//	                              lock file ── Verify ──────────┘
//
// CHECKSUM is that of the archive, so two that differ never share a folder, and a copy that is there is never written
// to again. The archive stays beside its program: where the lock file does not say what the program hashes to, that
// follows from the archive, which it does say. Nothing in the cache is taken at its word. Whether a program is still the
// one that was read is asked of the system (see Cache.Sum); what is started is read again, each time (see host).
package install

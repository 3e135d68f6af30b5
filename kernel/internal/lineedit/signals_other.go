//go:build !unix

package lineedit

import "os"

// watchTerminal never tells: a new size is seen at the next key.
func watchTerminal() (changed <-chan os.Signal, stop func()) { return nil, func() {} }

func goesOn(os.Signal) bool { return false }

// waiting cannot be known.
func waiting(*os.File) []byte { return nil }

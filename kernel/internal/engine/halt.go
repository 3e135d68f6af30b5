package engine

import "sync"

// Halt ends every provider process at once, as Kill does, but the engine goes on: the next call of a provider starts
// it anew. It returns when nothing of the processes is left.
func (e *Engine) Halt() {
	var wait sync.WaitGroup
	for _, p := range e.providers {
		wait.Go(p.Halt)
	}
	wait.Wait()
}

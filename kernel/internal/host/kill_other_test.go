//go:build !linux

package host

// fakeKernel has nothing to do where the system does not bind a provider to the life of the kernel.
func fakeKernel() {}

// Package host runs providers: it launches a binary, shakes hands, keeps one process alive and ends it with all that
// belongs to it. It is the only package that knows go-plugin.
//
//	Provider ── the provider as the kernel knows it, across crashes and restarts
//	  └─ life ── one process of it, from launch to the last cleanup
//	       ├─ process    the child: environment, group, output, exit
//	       ├─ categories its services, tools and commands behind one face
//	       └─ callbacks  what it may ask of the kernel: report a cancelled call, log
package host

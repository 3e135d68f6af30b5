'use strict';
// When the process ends, and how: calls are cancelled, have their grace time, and then it is over.

const parentInterval = 250;
const endPatience = 6_000;
const kernelGone = 'the kernel is gone';

/** Life is the process. signal is aborted when it must end. */
class Life {
  #ending = new AbortController();
  #running = new Set();
  #atEnd;
  #over = false;

  /** @param atEnd releases what the process holds; it is awaited for a second. */
  constructor(atEnd) {
    this.#atEnd = atEnd;
    process.on('SIGINT', () => {}); // a Ctrl-C is for the kernel, which cancels the calls; caught, since children inherit what is ignored
    process.on('SIGTERM', () => this.end('SIGTERM', 1)); // an end that no kernel asked for
    // Standard error is a pipe that nobody reads once the kernel is gone.
    process.stderr.on('error', () => {});
    const parent = process.ppid;
    setInterval(() => process.ppid === parent || this.end(kernelGone, 1), parentInterval).unref();
  }

  get signal() {
    return this.#ending.signal;
  }

  /** track keeps the process alive, at its end, until promise has settled. */
  track(promise) {
    this.#running.add(promise);
    promise.catch(console.error).finally(() => this.#running.delete(promise));
  }

  async end(cause, code) {
    if (this.#over) {
      return;
    }
    this.#over = true;
    this.#ending.abort(cause);
    await within(endPatience, Promise.allSettled(this.#running));
    await within(1_000, this.#atEnd());
    process.exit(code);
  }
}

const within = (patience, promise) => Promise.race([promise, new Promise((resolve) => setTimeout(resolve, patience))]);

module.exports = { Life, kernelGone };

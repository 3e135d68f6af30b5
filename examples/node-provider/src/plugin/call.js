'use strict';
// One call of a tool or command: its events on the way out, and what becomes of it when it is cancelled.

const { isUtf8 } = require('node:buffer');
const { once } = require('node:events');
const grpc = require('@grpc/grpc-js');
const { asToolError } = require('./errors.js');
const { kernelGone } = require('./life.js');
const { toStruct } = require('./struct.js');

const graceTime = 5_000;
const reportBytes = 64 * 1024;

/** Call is what the function of an operation sees. signal is aborted when the call is cancelled. */
class Call {
  #rpc;
  #callbacks;
  #sessionID;
  #note;
  #partial;
  #late = Buffer.alloc(0); // the end of what was printed after the cancellation

  constructor(rpc, callbacks, { id, name, config, args, context, signal }) {
    Object.assign(this, { id, name, config, arguments: args, dir: context?.working_directory, signal });
    this.#rpc = rpc;
    this.#callbacks = callbacks;
    this.#sessionID = context?.session_id ?? '';
  }

  /** progress says how far the call has come, with a fraction from 0 to 1 when that is known. */
  progress(message, fraction) {
    this.#send({ progress: { message: message.toWellFormed(), ...(fraction !== undefined && { fraction_complete: fraction }) } });
  }

  /** output sends bytes of STDOUT or STDERR. Whoever awaits it reads no faster than the kernel does. */
  async output(stream, data) {
    if (this.signal.aborted) {
      this.#late = Buffer.concat([this.#late, data]).subarray(-reportBytes);
      return;
    }
    if (!this.#send({ output_chunk: { stream: `OUTPUT_STREAM_${stream}`, data } })) {
      await once(this.#rpc, 'drain', { signal: this.signal }).catch(() => {}); // cancelled: nothing is waited for
    }
  }

  /** exit says how the child process ended; only an operation that ran one calls it, once. */
  exit(code, signal) {
    this.#send({ exit_status: { exit_code: code, ...(signal && { signal }) } });
  }

  /** report says, of a cancelled call, what had already happened. */
  report(note, partial) {
    this.#note = note;
    this.#partial = partial;
  }

  /** log writes to the kernel's log, which no secret may reach. */
  log(level, message, fields) {
    this.#callbacks.log(this.#sessionID, level, this.name, message, fields);
  }

  /** finish runs the operation and ends the stream as the protocol wants it. It never rejects. */
  async finish(operation) {
    const running = operation(this).then((result) => ({ result }), (error) => ({ error }));
    const outcome = await Promise.race([running, this.#abandoned()]);
    if (!this.signal.aborted) {
      await this.#callbacks.sent();
    }
    if (this.signal.aborted) {
      if (this.signal.reason !== kernelGone) { // otherwise there is nobody to tell
        await this.#reportCancelled(outcome);
      }
      this.#rpc.emit('error', { code: grpc.status.CANCELLED, details: 'cancelled' });
      return;
    }
    this.#send(lastEvent(outcome));
    this.#rpc.end();
  }

  // #abandoned resolves when the grace time after a cancellation is over; without a cancellation never.
  #abandoned() {
    return new Promise((resolve) => {
      const begin = () => setTimeout(() => resolve({ abandoned: true }), graceTime - 500).unref();
      this.signal.aborted ? begin() : this.signal.addEventListener('abort', begin, { once: true });
    });
  }

  async #reportCancelled({ result, abandoned }) {
    const note = this.#note ?? (abandoned ? 'it ignored its cancellation; what it had done is not known'
      : result ? 'completed before the cancellation took effect' : 'cancelled');
    const text = isUtf8(this.#late);
    const details = {
      partial_result: this.#partial ?? result ?? {},
      output: this.#late.toString(text ? 'utf8' : 'base64'),
      output_encoding: text ? undefined : 'base64',
    };
    try {
      await this.#callbacks.emitCancelled(this.#sessionID, this.id, note, details);
    } catch (error) {
      console.error(`the kernel did not take the report of cancelled call ${this.id}: ${error.message}`);
    }
  }

  // #send returns false when the kernel is slow to read, and drops what a cancelled call still has to say.
  #send(event) {
    return this.signal.aborted || this.#rpc.write({ event });
  }
}

// lastEvent is the one event that ends a call: an error too when the result is nothing that the wire has a form for.
function lastEvent(outcome) {
  if ('error' in outcome) {
    return { error: asToolError(outcome.error) };
  }
  try {
    return { result: { payload: toStruct(outcome.result) } };
  } catch (error) {
    return { error: asToolError(error) };
  }
}

module.exports = { Call };

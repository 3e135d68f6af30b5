'use strict';
// The way back to the kernel, which serves its callbacks on a socket of its own and announces it on the broker.

const { EventEmitter, once } = require('node:events');
const { setTimeout: sleep } = require('node:timers/promises');
const grpc = require('@grpc/grpc-js');
const protos = require('./protos.js');
const { toStruct } = require('./struct.js');

const CALLBACK_STREAM = 1;
const KernelCallbackService = protos.services.pluggableharness.kernel.v1.KernelCallbackService;

const connectPatience = 5_000;
const logPatience = 200;
// An announcement's listener is gone some seconds later, so a connection once closed cannot be opened again there.
const never = 2 ** 31 - 1;

/** Callbacks is the channel to the kernel: at most one connection, made as soon as the kernel says where. */
class Callbacks {
  #credentials;
  #client; // undefined while there is no connection
  #dialling = new Set();
  #arrival = new EventEmitter().setMaxListeners(0); // says 'connected'
  #unsent = []; // log entries that wait for it
  #sending = Promise.resolve();

  constructor(credentials) {
    this.#credentials = credentials;
  }

  /** announced takes a ConnInfo of the broker. It may come before, between and during calls, and again and again. */
  announced(info) {
    if (info.service_id !== CALLBACK_STREAM || info.knock || this.#connected()) {
      return;
    }
    const address = info.network === 'unix' ? `unix:${info.address}` : info.address;
    const client = new KernelCallbackService(address, this.#credentials, {
      'grpc.ssl_target_name_override': 'localhost',
      'grpc.enable_http_proxy': 0,
      'grpc.client_idle_timeout_ms': never,
      'grpc.use_local_subchannel_pool': 1,
    });
    this.#dialling.add(client);
    client.waitForReady(Date.now() + connectPatience, (error) => {
      this.#dialling.delete(client);
      if (error || this.#connected()) {
        client.close();
        return;
      }
      this.#client?.close();
      this.#client = client;
      this.#flushLog();
      this.#arrival.emit('connected');
    });
  }

  #connected() {
    return this.#client?.getChannel().getConnectivityState(false) === grpc.connectivityState.READY;
  }

  async #ready(patience) {
    if (!this.#connected()) {
      await once(this.#arrival, 'connected', { signal: AbortSignal.timeout(patience) }).catch(() => {});
    }
    return this.#client;
  }

  /** emitCancelled hands over the report of a cancelled call. It gives up when there is no connection within a second. */
  async emitCancelled(sessionID, callID, note, details) {
    const client = await this.#ready(1_000);
    if (!client) {
      throw new Error('the kernel serves no callbacks');
    }
    const event = {
      tool_call_id: callID,
      error: { category: 'TOOL_ERROR_CATEGORY_CANCELLED', message: note, details: toStruct(details) },
    };
    await promised(client, 'Emit', {
      session_id: sessionID,
      kind: 'EVENT_KIND_TOOL_RESULT',
      schema_version: '1',
      payload: protos.toolResultEvent.serialize(event),
    });
  }

  /** log queues an entry. Without a connection the last hundred are kept for it. */
  log(sessionID, level, logger, message, fields = {}) {
    const now = Date.now();
    const entry = {
      level: `LOG_LEVEL_${level}`, logger, message: message.toWellFormed(), fields: toStruct(fields),
      time: { seconds: Math.floor(now / 1000), nanos: (now % 1000) * 1e6 },
    };
    this.#unsent = [...this.#unsent.slice(-99), { sessionID, entry }];
    this.#flushLog();
  }

  #flushLog() {
    if (!this.#connected()) {
      return;
    }
    const client = this.#client;
    for (const { sessionID, entry } of this.#unsent.splice(0)) {
      const request = { entries: [entry], ...(sessionID && { session_id: sessionID }) };
      this.#sending = this.#sending.then(() => promised(client, 'Log', request)).catch((e) => console.error(`log: ${e.message}`));
    }
  }

  /** sent waits until every log entry so far has arrived, but no longer than a moment. */
  async sent() {
    if (this.#unsent.length > 0) {
      await this.#ready(logPatience);
    }
    await Promise.race([this.#sending, sleep(logPatience, undefined, { ref: false })]);
  }

  close() {
    this.#client?.close();
    this.#dialling.forEach((client) => client.close());
  }
}

const promised = (client, method, request) =>
  new Promise((resolve, reject) => {
    client[method](request, { deadline: Date.now() + 2_000 }, (error, answer) => (error ? reject(error) : resolve(answer)));
  });

module.exports = { Callbacks };

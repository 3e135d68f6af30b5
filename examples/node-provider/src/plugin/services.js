'use strict';
// The RPCs of both services, over a provider: its tools and commands, configure and render.

const { isDeepStrictEqual } = require('node:util');
const { Call } = require('./call.js');
const { decode } = require('./config.js');
const { ToolFailure, asStatus, asToolError, quoted } = require('./errors.js');
const { check } = require('./schema.js');
const { fromStruct } = require('./struct.js');

/** Services answers for one provider. life says when to end and what runs; callbacks is the way back to the kernel. */
class Services {
  #provider;
  #life;
  #callbacks;
  #block; // what config was made of
  #config; // undefined until it is configured

  constructor(provider, life, callbacks) {
    this.#provider = provider;
    this.#life = life;
    this.#callbacks = callbacks;
  }

  tools() {
    const { tools, config } = this.#provider;
    return {
      GetSchema: unary(() => ({ tools: tools.map((t) => t.schema), config_schema: { attributes: config } })),
      ...this.#shared('CATEGORY_TOOL', tools, 'tool_name'),
    };
  }

  commands() {
    const { commands, config } = this.#provider;
    return {
      GetCapabilities: unary(() => ({ commands: commands.map((c) => c.schema), config_schema: { attributes: config } })),
      ...this.#shared('CATEGORY_SLASHCOMMAND', commands, 'name'),
    };
  }

  #shared(category, operations, nameField) {
    const { name, version, source } = this.#provider;
    return {
      Describe: unary(() => ({ producer: { name, version, source, category, protocol_version: 1 } })),
      Configure: unary((request) => this.#configure(fromStruct(request.config))),
      Preview: unary(async (request) => {
        const call = { ...this.#admit(operations, request.call, nameField), signal: new AbortController().signal };
        return { preview: { root: await call.operation.preview(call) } };
      }),
      Render: unary((request) => ({ tree: { root: this.#provider.render(payloadOf(request)) } })),
      Invoke: (rpc) => this.#life.track(this.#invoke(rpc, operations, nameField)),
    };
  }

  // #configure may be called once for each service: the same again is welcome, something else is not.
  async #configure(block) {
    if (this.#config && !isDeepStrictEqual(block, this.#block)) {
      throw new ToolFailure('EXECUTION_FAILED', 'the provider has been configured already; a new configuration needs a new process');
    }
    this.#config ??= await this.#provider.configure(decode(this.#provider.config, block));
    this.#block = block;
    return {};
  }

  // #admit checks everything there is to check before a call or a preview of it.
  #admit(operations, call, nameField) {
    const name = call?.[nameField];
    const operation = operations.find((o) => o.schema.name === name);
    if (!operation) {
      const names = operations.map((o) => o.schema.name).join(', ');
      throw new ToolFailure('INVALID_ARGUMENTS', `there is no operation ${quoted(name)}; there is ${names}`);
    }
    if (!this.#config) {
      throw new ToolFailure('EXECUTION_FAILED', 'the provider has not been configured; the kernel must call Configure first');
    }
    const args = fromStruct(call.arguments);
    check(operation.schema.input_schema, args);
    return { operation, id: call.id, name, config: this.#config, args, arguments: args, context: call.call_context };
  }

  async #invoke(rpc, operations, nameField) {
    let admitted;
    try {
      admitted = this.#admit(operations, rpc.request.call, nameField);
    } catch (error) {
      rpc.write({ event: { error: asToolError(error) } });
      rpc.end();
      return;
    }
    const cancelled = new AbortController();
    rpc.on('cancelled', () => cancelled.abort());
    const signal = AbortSignal.any([cancelled.signal, this.#life.signal]);
    const call = new Call(rpc, this.#callbacks, { ...admitted, signal });
    // An async function, so that what throws before its first await is a failure of the call too.
    await call.finish(async (c) => admitted.operation.invoke(c));
  }
}

function payloadOf({ payload, schema_version: version }) {
  if (version !== '1') {
    throw new ToolFailure('INVALID_ARGUMENTS', `schema_version is ${quoted(version)}; payloads of this provider are "1"`);
  }
  try {
    return JSON.parse(payload.toString('utf8'));
  } catch (error) {
    throw new ToolFailure('INVALID_ARGUMENTS', `payload is no JSON: ${error.message}`);
  }
}

const unary = (answer) => async (rpc, callback) => {
  try {
    callback(null, await answer(rpc.request));
  } catch (error) {
    callback(asStatus(error));
  }
};

module.exports = { Services };

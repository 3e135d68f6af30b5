'use strict';
// The process: what go-plugin's Serve does for a provider in Go.

const { randomBytes } = require('node:crypto');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const grpc = require('@grpc/grpc-js');
const { Callbacks } = require('./callbacks.js');
const { selfSigned } = require('./certificate.js');
const { Life } = require('./life.js');
const { Services } = require('./services.js');
const protos = require('./protos.js');

const CORE_PROTOCOL = 1; // of go-plugin
const RUNTIME_PROTOCOL = 1; // of kernel and providers
const messageLimit = 64 * 1024 * 1024;

/** main serves a provider until the kernel ends it. That it is a kernel which started the process is known already. */
function main(provider) {
  // The first line of standard output is the handshake, and nothing may follow it.
  console.log = console.info = console.debug = console.error;
  serve(provider, identity(process.env.PLUGIN_CLIENT_CERT)).catch((error) => {
    console.error(error);
    process.exit(1);
  });
}

// identity is how each side knows the other: by exactly one certificate, made for this process. A kernel that gives
// none wants no TLS.
function identity(kernelCert) {
  if (!kernelCert) {
    return { der: Buffer.alloc(0), server: grpc.ServerCredentials.createInsecure(), client: grpc.credentials.createInsecure() };
  }
  const own = selfSigned();
  const ca = Buffer.from(kernelCert);
  const [cert, key] = [Buffer.from(own.cert), Buffer.from(own.key)];
  return {
    der: own.der,
    server: grpc.ServerCredentials.createSsl(ca, [{ cert_chain: cert, private_key: key }], true),
    client: grpc.credentials.createSsl(ca, key, cert),
  };
}

async function serve(provider, { der, server: serverCredentials, client: clientCredentials }) {
  const server = new grpc.Server({ 'grpc.max_receive_message_length': messageLimit });
  const callbacks = new Callbacks(clientCredentials);
  const socket = path.join(process.env.PLUGIN_UNIX_SOCKET_DIR || os.tmpdir(), `plugin${randomBytes(6).toString('hex')}`);
  const life = new Life(async () => {
    callbacks.close();
    // What was answered last, Shutdown perhaps, still goes out.
    await new Promise((resolve) => server.tryShutdown(resolve));
  });
  process.on('exit', () => fs.rmSync(socket, { force: true }));

  const services = new Services(provider, life, callbacks);
  const { tool, slashcommand } = protos.services.pluggableharness;
  if (provider.tools.length > 0) {
    server.addService(tool.v1.ToolService.service, services.tools());
  }
  if (provider.commands.length > 0) {
    server.addService(slashcommand.v1.SlashCommandService.service, services.commands());
  }
  addPluginServices(server, life, callbacks);

  await new Promise((resolve, reject) => {
    server.bindAsync(`unix:${socket}`, serverCredentials, (error) => (error ? reject(error) : resolve()));
  });
  const line = [CORE_PROTOCOL, RUNTIME_PROTOCOL, 'unix', socket, 'grpc', der.toString('base64').replace(/=+$/, '')];
  if (process.env.PLUGIN_MULTIPLEX_GRPC) {
    line.push('false'); // this provider does not put every stream on one connection
  }
  process.stdout.write(line.join('|') + '\n');
}

// addPluginServices adds what go-plugin asks of every plugin.
function addPluginServices(server, life, callbacks) {
  const { plugin, grpc: standard } = protos.services;
  server.addService(standard.health.v1.Health.service, {
    Check: ({ request }, callback) =>
      request.service === 'plugin' || request.service === ''
        ? callback(null, { status: 'SERVING' })
        : callback({ code: grpc.status.NOT_FOUND, details: `no service ${request.service}` }),
    Watch: (rpc) => {
      rpc.write({ status: rpc.request.service === 'plugin' || rpc.request.service === '' ? 'SERVING' : 'SERVICE_UNKNOWN' });
      endWith(life, rpc);
    },
  });
  server.addService(plugin.GRPCBroker.service, {
    StartStream: (rpc) => {
      rpc.on('data', (info) => callbacks.announced(info));
      rpc.on('end', () => rpc.end());
      endWith(life, rpc);
    },
  });
  server.addService(plugin.GRPCController.service, {
    Shutdown: (rpc, callback) => {
      callback(null, {});
      life.end('the kernel asked for it', 0);
    },
  });
  // Nothing is ever printed, so nothing is ever sent; the stream is held open, as the kernel expects.
  server.addService(plugin.GRPCStdio.service, { StreamStdio: (rpc) => endWith(life, rpc) });
}

// endWith ends a stream that is otherwise open as long as the process.
const endWith = (life, rpc) => life.signal.addEventListener('abort', () => rpc.end(), { once: true });

module.exports = { main };

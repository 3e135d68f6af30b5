// Starts agent mcp for a test, with a client of the official SDK at its other end.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

export const agent = process.env.AGENT;
const token = 'correct-horse-battery-staple';
export const authorised = { requestInit: { headers: { Authorization: `Bearer ${token}` } } };

// client is one that answers questions with answer, and has the roots that roots returns; without them, it cannot be asked.
export function newClient(answer, roots) {
  const client = new Client({ name: 'typescript-sdk', version: '1' }, {
    capabilities: { ...answer && { elicitation: { form: {} } }, ...roots && { roots: { listChanged: true } } },
  });
  client.faults = [];
  client.onerror = (error) => client.faults.push(error);
  if (answer) client.setRequestHandler(ElicitRequestSchema, (request) => answer(request.params));
  if (roots) client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: roots().map((uri) => ({ uri })) }));
  return client;
}

// stdio is a client with a server of its own. Every byte on that one's stdout is held to the protocol.
export async function stdio(t, { answer, roots, args = [] } = {}) {
  const client = newClient(answer, roots);
  const transport = new StdioClientTransport({ command: agent, args: ['mcp', ...args], env: process.env, stderr: 'pipe' });
  let printed = '';
  const started = transport.start.bind(transport);
  transport.start = async () => {
    await started();
    transport._process.stdout.on('data', (chunk) => { printed += chunk; });
  };
  transport.stderr.resume();
  await client.connect(transport);
  t.after(async () => {
    await client.close();
    assert.deepEqual(client.faults, []);
    for (const line of printed.split('\n').filter((text) => text !== '')) {
      assert.equal(JSON.parse(line).jsonrpc, '2.0', line);
    }
  });
  return client;
}

// harmless is what the SDK says when it closes a stream itself.
const harmless = /AbortError/;

// http is a client of a server that is started for it.
export async function http(t, { answer, roots, args = [] } = {}) {
  const url = await serve(t, args, () => leave());
  const client = newClient(answer, roots);
  const transport = new StreamableHTTPClientTransport(url, authorised);
  const leave = async () => {
    await transport.terminateSession();
    await client.close();
    assert.deepEqual(client.faults.filter((error) => !harmless.test(error.message)), []);
  };
  await client.connect(transport);
  return client;
}

// serve starts a server and returns its address. Before it is ended, leave is called.
export async function serve(t, args = [], leave = async () => {}) {
  const server = spawn(agent, ['mcp', '--http', '127.0.0.1:0', '--token-env', 'TOKEN', ...args], {
    env: { ...process.env, TOKEN: token }, stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  server.stdout.on('data', (chunk) => { printed += chunk; });
  t.after(async () => {
    const ended = once(server, 'exit');
    await leave().finally(() => server.kill('SIGTERM'));
    assert.deepEqual(await ended, [0, null]);
    assert.equal(printed, '');
  });
  for await (const line of createInterface({ input: server.stderr })) {
    const at = line.indexOf('serving on ');
    if (at >= 0) {
      server.stderr.resume();
      return new URL(line.slice(at + 'serving on '.length));
    }
  }
  throw new Error('the server ended before it served');
}

export const text = (result) => result.content.map((part) => part.text).join('\n');

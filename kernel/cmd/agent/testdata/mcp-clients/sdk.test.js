// The official TypeScript SDK, over both transports. It checks each message and each structured result by itself.
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { watch } from 'node:fs';
import { access, readFile, rm } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import Ajv from 'ajv/dist/2020.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { authorised, http, newClient, serve, stdio, text } from './server.js';

const accept = (content) => () => ({ action: 'accept', content });
const write = (path) => ({ name: 'filesystem_write_file', arguments: { path, content: 'hello\n' } });
// made is fulfilled when a file comes to be in the working folder.
const made = (name) => new Promise((resolve) => {
  const watcher = watch('.', (_, changed) => { if (changed === name) { watcher.close(); resolve(); } });
});

const exists = (path) => access(path).then(() => true, () => false);

for (const [name, connect] of Object.entries({ stdio, http })) {
  describe(name, () => {
    it('has tools that any client takes', async (t) => {
      const client = await connect(t);
      const { tools } = await client.listTools();
      assert.ok(tools.length > 10);
      const ajv = new Ajv({ strict: true, strictRequired: true, allErrors: true });
      for (const tool of tools) {
        assert.match(tool.name, /^[a-zA-Z0-9_-]{1,40}$/); // M02
        for (const schema of [tool.inputSchema, tool.outputSchema].filter(Boolean)) {
          assert.equal(schema.type, 'object', tool.name);
          assert.equal(typeof schema.properties, 'object', tool.name); // M03
          ajv.compile(schema);
          assert.ok(!JSON.stringify(schema).includes('null'), tool.name); // M04
        }
      }
      assert.equal(client.getServerVersion().name, 'agent');
      assert.match(client.getInstructions(), /policy/);
    });

    it('gives results that fit what was declared', async (t) => {
      const client = await connect(t, { args: ['--approve', 'bash.*'] });
      await client.listTools(); // from here on results are held to the output schemas
      const read = await client.callTool({ name: 'filesystem_read_file', arguments: { path: 'agent.hcl' } });
      assert.match(text(read), /required_providers/);
      assert.match(read.structuredContent.content, /required_providers/);
      for (const [tool, args] of [
        ['filesystem_list_directory', { path: '.' }], ['filesystem_stat', { path: 'agent.hcl' }],
        ['filesystem_grep', { pattern: 'required' }], ['fixture_sequence', {}], ['fixture_echo', { text: 'ä\u0000😀' }],
        ['fixture_environment', {}], ['fixture_pid', {}],
      ]) {
        const result = await client.callTool({ name: tool, arguments: args });
        assert.ok(!result.isError, `${tool}: ${text(result)}`);
        assert.notEqual(text(result), '', tool);
      }
      const ran = await client.callTool({ name: 'bash_bash', arguments: { command: 'echo out; echo err >&2; exit 3' } });
      for (const part of ['out\n', 'err\n', 'exit code 3']) assert.ok(text(ran).includes(part), text(ran)); // from two pipes
    });

    it('says of a tool that failed why', async (t) => { // M05
      const client = await connect(t);
      await client.listTools();
      const result = await client.callTool({ name: 'filesystem_read_file', arguments: { path: 'none.txt' } });
      assert.equal(result.isError, true);
      assert.match(text(result), /^not_found: /);
      assert.equal(result.structuredContent, undefined);
      assert.equal(result._meta['agent/error'].category, 'not_found');
      const wrong = await client.callTool({ name: 'filesystem_read_file', arguments: { pth: 1 } });
      assert.equal(wrong.isError, true);
      assert.match(text(wrong), /^invalid_arguments: [^]*path/);
      await assert.rejects(client.callTool({ name: 'filesystem_fly', arguments: {} }), { code: -32602 });
    });

    it('tells how far it is', async (t) => { // M08
      const client = await connect(t, { args: ['--yes'] });
      const told = [];
      // Nothing is said shortly before the end: the SDK takes note of progress later than of an answer that came after it.
      const result = await client.callTool({ name: 'bash_bash', arguments: { command: 'echo one; sleep 0.3; echo two; sleep 0.5' } },
        undefined, { onprogress: (progress) => told.push(progress), resetTimeoutOnProgress: true });
      assert.ok(!result.isError, text(result));
      assert.match(told.map((progress) => progress.message).join('\n'), /one[^]*two/);
      told.reduce((before, progress) => (assert.ok(progress.progress > before), progress.progress), -1);
    });

    it('cancels', async (t) => { // M07
      const client = await connect(t, { args: ['--yes'] });
      const ended = `ended-${name}`;
      const told = made(ended);
      const abort = new AbortController();
      const call = client.callTool({ name: 'bash_bash', arguments: { command: `trap 'echo yes >${ended}; exit' TERM; echo up; sleep 1000 & wait` } },
        undefined, { signal: abort.signal, onprogress: (progress) => { if (/up/.test(progress.message)) abort.abort('enough'); } });
      await assert.rejects(call);
      await told;
      const after = await client.callTool({ name: 'fixture_echo', arguments: { text: 'still here' } });
      assert.match(text(after), /still here/);
    });

    it('asks, and does what was said', async (t) => { // M09
      let asked;
      const client = await connect(t, { answer: (question) => { asked = question; return accept({ decision: 'approve', scope: 'once' })(); } });
      const path = `asked-${name}.txt`;
      const result = await client.callTool(write(path));
      assert.ok(!result.isError, text(result));
      assert.match(asked.message, /│ \+hello/);
      assert.deepEqual(asked.requestedSchema.required, ['decision']);
      assert.equal(await readFile(path, 'utf8'), 'hello\n');
      await rm(path);
    });

    for (const [what, answer] of Object.entries({
      'is declined': () => ({ action: 'decline' }), 'is closed': () => ({ action: 'cancel' }), 'has no decision': accept({}),
      'has a no in it': accept({ decision: 'deny' }), 'fails at the client': () => { throw new Error('no screen'); },
    })) {
      it(`does nothing when the question ${what}`, async (t) => {
        const client = await connect(t, { answer });
        const result = await client.callTool(write('no.txt'));
        assert.equal(result.isError, true);
        assert.match(text(result), /^permission_denied: /);
        assert.equal(await exists('no.txt'), false);
      });
    }

    it('denies who cannot be asked, and says what would do', async (t) => {
      const client = await connect(t);
      const result = await client.callTool(write('never.txt'));
      assert.equal(result.isError, true);
      assert.match(text(result), /--approve/);
      assert.equal(await exists('never.txt'), false);
    });

    it('stays within its roots', async (t) => {
      let folder = pathToFileURL(process.cwd()).href;
      const client = await connect(t, { roots: () => [folder], args: ['--yes'] });
      const read = () => client.callTool({ name: 'filesystem_read_file', arguments: { path: 'agent.hcl' } });
      assert.match(text(await read()), /required_providers/);
      folder = 'file:///nowhere';
      await client.sendRootsListChanged();
      const denied = await read();
      assert.equal(denied.isError, true);
      assert.match(text(denied), /^permission_denied: .* outside the roots of the client \(\/nowhere\)/);
      const other = await client.callTool({ name: 'bash_bash', arguments: { command: 'ls' } });
      assert.match(text(other), /working directory/);
    });

    it('has the commands as prompts', async (t) => {
      const client = await connect(t);
      const { prompts } = await client.listPrompts();
      assert.ok(prompts.some((prompt) => prompt.name === 'hello'), JSON.stringify(prompts));
      const said = await client.getPrompt({ name: 'hello', arguments: { name: 'Ada' } });
      assert.match(said.messages[0].content.text, /Ada/);
      const completed = await client.complete({ ref: { type: 'ref/prompt', name: 'changelog' }, argument: { name: 'format', value: 'j' } });
      assert.deepEqual(completed.completion.values, ['json']);
      await assert.rejects(client.getPrompt({ name: 'goodbye' }), { code: -32602 });
    });

    it('survives its providers', async (t) => { // M01
      const client = await connect(t, { args: ['--log-level', 'debug'] });
      await client.setLoggingLevel('debug');
      await client.callTool({ name: 'fixture_print', arguments: { bytes: 100000 } });
      for (const how of ['panic', 'kill', 'exit 0']) {
        const result = await client.callTool({ name: 'fixture_die', arguments: { how } });
        assert.equal(result.isError, true, how);
        assert.match(text(result), /^process_crashed: /, how);
      }
      const read = await client.callTool({ name: 'filesystem_stat', arguments: { path: 'agent.hcl' } });
      assert.ok(!read.isError, text(read));
    });
  });
}

describe('http alone', () => {
  it('wants the token', async (t) => {
    const url = await serve(t);
    await assert.rejects(newClient().connect(new StreamableHTTPClientTransport(url)), { code: 401 });
  });

  it('has as many clients as want it', async (t) => {
    const url = await serve(t);
    const said = await Promise.all(Array.from({ length: 8 }, async (_, who) => {
      const client = newClient();
      await client.connect(new StreamableHTTPClientTransport(url, authorised));
      const results = await Promise.all(Array.from({ length: 15 }, (_, n) => client.callTool({ name: 'fixture_echo', arguments: { text: `${who}.${n}` } })));
      await client.close();
      return results.map((result) => result.structuredContent.text);
    }));
    said.forEach((texts, who) => assert.deepEqual(texts, texts.map((_, n) => `${who}.${n}`)));
  });

  it('is done with a call that was cancelled, or refused', async (t) => { // M07: one look for more, and no word of it
    const url = await serve(t, ['--yes']);
    const client = newClient();
    const looked = [];
    let look = () => {};
    const transport = new StreamableHTTPClientTransport(url, {
      ...authorised, reconnectionOptions: { initialReconnectionDelay: 20, maxReconnectionDelay: 20, reconnectionDelayGrowFactor: 1, maxRetries: 5 },
      fetch: async (address, init) => {
        const answer = await fetch(address, init);
        const after = init.method === 'GET' && new Headers(init.headers).get('last-event-id');
        if (after) look(looked.push([after.split('_')[0], answer.status]));
        return answer;
      },
    });
    await client.connect(transport);
    const resumed = () => new Promise((resolve) => { look = resolve; });
    let told = resumed();
    const abort = new AbortController();
    await assert.rejects(client.callTool({ name: 'bash_bash', arguments: { command: 'echo up; sleep 1000' } }, undefined,
      { signal: abort.signal, onprogress: (progress) => { if (/up/.test(progress.message)) abort.abort('enough'); } }));
    await told;
    for (let n = 0; n < 3; n += 1) { // each takes as long as another look at the first would
      told = resumed();
      await assert.rejects(client.callTool({ name: 'filesystem_fly', arguments: {} }), { code: -32602 });
      await told;
    }
    assert.deepEqual(looked.map(([, status]) => status), [405, 405, 405, 405]);
    assert.equal(new Set(looked.map(([stream]) => stream)).size, 4);
    assert.deepEqual(client.faults, []);
    await transport.terminateSession();
    await client.close();
  });

  it('does not know a session that is over', async (t) => { // M11
    const url = await serve(t);
    const transport = new StreamableHTTPClientTransport(url, { ...authorised, sessionId: 'of-before-the-restart' });
    await transport.start();
    await assert.rejects(transport.send({ jsonrpc: '2.0', id: 1, method: 'tools/list' }), { code: 404 });
    await transport.close();
  });
});

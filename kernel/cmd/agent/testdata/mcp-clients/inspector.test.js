// The Inspector's command line, as people try a server with it.
import { it } from 'node:test';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { agent, text } from './server.js';

const inspector = fileURLToPath(new URL('node_modules/@modelcontextprotocol/inspector-cli/build/cli.js', import.meta.url));

async function inspect(...args) {
  const { stdout } = await promisify(execFile)(process.execPath, [inspector, '--cli', agent, 'mcp', ...args], { timeout: 60_000 });
  return JSON.parse(stdout);
}

it('tools/list', async () => {
  const { tools } = await inspect('--method', 'tools/list');
  assert.ok(tools.some((tool) => tool.name === 'filesystem_read_file' && tool.title === 'filesystem.read_file'));
});

it('tools/call', async () => {
  const result = await inspect('--method', 'tools/call', '--tool-name', 'filesystem_stat', '--tool-arg', 'path=agent.hcl');
  assert.ok(!result.isError, text(result));
  assert.equal(result.structuredContent.path, 'agent.hcl');
});

it('tools/call of what nobody can approve', async () => {
  const result = await inspect('--method', 'tools/call', '--tool-name', 'filesystem_create_directory', '--tool-arg', 'path=new');
  assert.equal(result.isError, true);
  assert.match(text(result), /--approve/);
});

it('prompts/list and prompts/get', async () => {
  const { prompts } = await inspect('--method', 'prompts/list');
  assert.ok(prompts.some((prompt) => prompt.name === 'hello'));
  const said = await inspect('--method', 'prompts/get', '--prompt-name', 'hello', '--prompt-args', 'name=Ada');
  assert.match(said.messages[0].content.text, /Ada/);
});

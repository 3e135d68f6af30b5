'use strict';

const { spawn } = require('node:child_process');
const { once } = require('node:events');
const os = require('node:os');
const { code } = require('../plugin/render.js');
const { number, object, string } = require('../plugin/schema.js');

const killGrace = 3_000;
const drainPatience = 500;

// The command runs in a process group of its own, which a second shell of the group watches: it reads from a pipe that
// only the provider holds, and when that breaks, because the command has ended or because the provider was killed, it
// kills what is left of the group. So nothing outlives the provider, however it dies, but what has left the group (setsid):
// to find that takes more than a shell.
// The watcher does not hear what the group is asked to end with: it has to see that everything has.
const watched = [
  `trap '' TERM INT HUP`,
  '{ read -r _; kill -KILL 0; } <&3 >/dev/null 2>&1 &',
  'exec 3<&-',
  'trap - TERM INT HUP',
  'exec sh -c "$1"',
].join('\n');

/** run starts a child process: its output is streamed as it comes, then its exit status, then the result. */
module.exports = {
  schema: {
    name: 'run',
    kind: 'TOOL_KIND_RESOURCE',
    risk: 'RISK_CLASS_HIGH',
    description: 'Run a shell command in the folder of the notebook.',
    input_schema: object({ command: string('The command, for sh.') }),
    output_schema: object({
      exit_code: number('Exit code; 128 + n when signal n ended the command.'),
      signal: string('Name of that signal.'),
      output_bytes: number('How much the command printed, both streams together.'),
    }, ['exit_code', 'output_bytes']),
    streaming: true,
    default_timeout: { seconds: 60 },
  },

  preview: ({ arguments: { command } }) => code(command, 'sh'),

  async invoke(call) {
    const child = spawn('sh', ['-c', watched, 'sh', call.arguments.command], {
      cwd: call.config.notes.folder,
      detached: true, // a new session, hence a new process group
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    await once(child, 'spawn');
    call.progress('started the command');
    let bytes = 0;
    const relay = async (stream, readable) => {
      for await (const data of readable) {
        bytes += data.length;
        await call.output(stream, data);
      }
    };
    const drained = Promise.allSettled([relay('STDOUT', child.stdout), relay('STDERR', child.stderr)]);
    const stopWaiting = stopOnCancel(child, call.signal);
    const [exitCode, signal] = await once(child, 'exit');
    stopWaiting();
    child.stdio[3].destroy(); // the watcher ends what the command left behind
    await drain(child, drained);

    const status = { exit_code: signal ? 128 + os.constants.signals[signal] : exitCode, signal: signal ?? undefined };
    call.exit(status.exit_code, signal);
    const result = { ...status, output_bytes: bytes };
    if (call.signal.aborted) {
      call.report(`the command was ended by ${signal ?? `its own exit with ${exitCode}`} after it had printed ${bytes} bytes`, result);
    }
    return result;
  },

  render: ({ exit_code: exitCode, signal, output_bytes: bytes }) => code(`${signal ?? `exit ${exitCode}`}, ${bytes} bytes of output`),
};

// stopOnCancel sends SIGTERM to the whole group when the call is cancelled, and SIGKILL when that was not enough. It
// returns how to forget about it.
function stopOnCancel(child, signal) {
  let timer;
  const kill = (name) => {
    try {
      process.kill(-child.pid, name);
    } catch (error) {
      if (error.code !== 'ESRCH') {
        throw error;
      }
    }
  };
  const stop = () => {
    kill('SIGTERM');
    timer = setTimeout(kill, killGrace, 'SIGKILL');
  };
  signal.aborted ? stop() : signal.addEventListener('abort', stop, { once: true });
  return () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  };
}

// drain waits for the end of the output: not for ever, since a process that fled from the group may hold it open.
async function drain(child, drained) {
  const timer = setTimeout(() => {
    child.stdout.destroy();
    child.stderr.destroy();
  }, drainPatience);
  await drained;
  clearTimeout(timer);
}

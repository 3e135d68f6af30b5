'use strict';

const { ToolFailure, quoted } = require('../plugin/errors.js');
const { array, number, object, string } = require('../plugin/schema.js');
const { group, table, text } = require('../plugin/render.js');

const note = object({
  name: string('File name of the note.'),
  title: string('Its first heading, or empty.'),
  bytes: number('Its size.'),
  seal: string('A keyed digest of the text, when the provider has a seal_key.'),
}, ['name', 'title', 'bytes']);

// One note that cannot be read does not hide the others.
function readable(notes, name) {
  try {
    return notes.read(name);
  } catch {
    return undefined;
  }
}

// limitOf keeps the result well within one message. A schema has no integers, so that is for the tool to say.
function limitOf({ limit = 500 }) {
  if (!Number.isInteger(limit) || limit < 1 || limit > 2000) {
    throw new ToolFailure('INVALID_ARGUMENTS', `limit: ${limit} is no whole number from 1 to 2000`, { argument: 'limit' });
  }
  return limit;
}

/** list_notes reads: it runs without being asked for, and beside any other call. */
module.exports = {
  schema: {
    name: 'list_notes',
    kind: 'TOOL_KIND_DATA_SOURCE',
    risk: 'RISK_CLASS_READ_ONLY',
    description: 'List the notes of the notebook, with their titles. With containing, only those that have the text.',
    input_schema: object({
      containing: string('Text to look for, exactly.'),
      limit: number('How many to list at most; 500 when it is left out.'),
    }, []),
    output_schema: object({ notes: array(note, 'By name.'), total: number('How many there are.'), unreadable: number('How many files are no text.') }),
    concurrency: { safe: true },
    idempotent: true,
  },

  preview({ arguments: args }) {
    limitOf(args);
    return text(args.containing === undefined ? 'list the notes' : `list the notes that contain ${quoted(args.containing)}`);
  },

  async invoke(call) {
    const { notes } = call.config;
    const { containing } = call.arguments;
    const limit = limitOf(call.arguments);
    const names = notes.list();
    const found = [];
    let [total, unreadable] = [0, 0];
    for (const [i, name] of names.entries()) {
      call.signal.throwIfAborted();
      call.progress(name, i / names.length);
      const content = readable(notes, name);
      if (content === undefined) {
        unreadable++;
      } else if ((containing === undefined || content.includes(containing)) && total++ < limit) {
        const title = /^#+ +(.*)$/m.exec(content)?.[1].trim() ?? '';
        found.push({ name, title, bytes: Buffer.byteLength(content), seal: notes.seal(content) });
      }
      await new Promise(setImmediate); // a cancellation is heard between two notes
    }
    return { notes: found, total, unreadable };
  },

  render: ({ notes, total }) => {
    const rows = table(['note', 'title', 'bytes'], notes.map((n) => [n.name, n.title, String(n.bytes)]));
    return total > notes.length ? group(rows, text(`and ${total - notes.length} more`, 'DIM')) : rows;
  },
};

'use strict';

const { array, number, object, string } = require('../plugin/schema.js');
const { table, text } = require('../plugin/render.js');

const note = object({
  name: string('File name of the note.'),
  title: string('Its first heading, or empty.'),
  bytes: number('Its size.'),
  seal: string('A keyed digest of the text, when the provider has a seal_key.'),
}, ['name', 'title', 'bytes']);

/** list_notes reads: it runs without being asked for, and beside any other call. */
module.exports = {
  schema: {
    name: 'list_notes',
    kind: 'TOOL_KIND_DATA_SOURCE',
    risk: 'RISK_CLASS_READ_ONLY',
    description: 'List the notes of the notebook, with their titles. With containing, only those that have the text.',
    input_schema: object({ containing: string('Text to look for, exactly.') }, []),
    output_schema: object({ notes: array(note, 'By name.') }),
    concurrency: { safe: true },
    idempotent: true,
  },

  preview: ({ arguments: { containing } }) =>
    text(containing === undefined ? 'list every note' : `list the notes that contain ${JSON.stringify(containing)}`),

  async invoke(call) {
    const { notes } = call.config;
    const { containing } = call.arguments;
    const names = notes.list();
    const found = [];
    for (const [i, name] of names.entries()) {
      call.signal.throwIfAborted();
      call.progress(name, i / names.length);
      const content = notes.read(name);
      if (containing === undefined || content.includes(containing)) {
        const title = /^#+ +(.*)$/m.exec(content)?.[1].trim() ?? '';
        found.push({ name, title, bytes: Buffer.byteLength(content), seal: notes.seal(content) });
      }
      await new Promise(setImmediate); // a cancellation is heard between two notes
    }
    return { notes: found };
  },

  render: ({ notes }) => table(['note', 'title', 'bytes'], notes.map((n) => [n.name, n.title, String(n.bytes)])),
};

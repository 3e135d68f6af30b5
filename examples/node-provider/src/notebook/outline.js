'use strict';

const { list, text } = require('../plugin/render.js');
const { array, number, object, string } = require('../plugin/schema.js');

/** /outline is a command: a person types it, and its result has no schema. */
module.exports = {
  schema: {
    name: 'outline',
    kind: 'TOOL_KIND_DATA_SOURCE',
    risk: 'RISK_CLASS_READ_ONLY',
    description: 'Show the headings of a note.',
    input_schema: object({ name: string('File name of the note.') }),
    concurrency: { safe: true },
    idempotent: true,
  },

  preview: ({ arguments: { name }, config: { notes } }) => {
    notes.read(name);
    return text(`read the headings of ${name}`);
  },

  invoke(call) {
    let fenced = false;
    const headings = [];
    for (const line of call.config.notes.read(call.arguments.name).split(/\r?\n/)) {
      fenced = /^(```|~~~)/.test(line) ? !fenced : fenced;
      const heading = !fenced && /^(#{1,6}) +(.+?)( +#+)? *$/.exec(line);
      if (heading) {
        headings.push({ level: heading[1].length, text: heading[2] });
      }
    }
    return { headings };
  },

  // A command has no output schema on the wire; this one is for Render alone.
  result: object({ headings: array(object({ level: number(''), text: string('') })) }),

  render: ({ headings }) => list(headings.map((h) => text('  '.repeat(h.level - 1) + h.text))),
};

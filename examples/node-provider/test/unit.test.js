'use strict';

const { X509Certificate } = require('node:crypto');
const { EventEmitter } = require('node:events');
const { describe, it } = require('node:test');
const assert = require('node:assert/strict');
const { Call } = require('../src/plugin/call.js');
const { selfSigned } = require('../src/plugin/certificate.js');
const { decode } = require('../src/plugin/config.js');
const { ToolFailure, asToolError } = require('../src/plugin/errors.js');
const { diff } = require('../src/plugin/render.js');
const { check } = require('../src/plugin/schema.js');
const { fromStruct, toStruct } = require('../src/plugin/struct.js');
const editNote = require('../src/notebook/edit_note.js');
const provider = require('../src/notebook/provider.js');

describe('certificate', () => {
  it('is its own authority, for localhost and both directions', () => {
    const { cert, der } = selfSigned();
    const x509 = new X509Certificate(cert);
    assert.ok(x509.verify(x509.publicKey));
    assert.ok(x509.ca);
    assert.deepEqual(x509.raw, der);
    assert.equal(x509.subjectAltName, 'DNS:localhost');
    assert.deepEqual(x509.keyUsage, ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
  });

  it('has years of two digits before 2050 and of four after', () => {
    const { cert } = selfSigned(new Date('2045-06-01T00:00:00Z'));
    assert.match(new X509Certificate(cert).validFrom, /2045/);
    assert.match(new X509Certificate(cert).validTo, /2055/);
  });
});

describe('struct', () => {
  it('comes back as it went', () => {
    const value = { s: 'ü', n: 1.5, b: false, nothing: null, l: [1, ['x'], {}], o: { deep: { er: '' } } };
    assert.deepEqual(JSON.parse(JSON.stringify(fromStruct(wire(toStruct(value))))), value);
  });

  it('takes __proto__ for a name', () => {
    const object = fromStruct({ fields: { __proto__: null, ['__proto__']: { kind: 'boolValue', boolValue: true } } });
    assert.deepEqual(Object.keys(object), ['__proto__']);
  });
});

// wire adds what the decoder adds: the name of the member that is set.
function wire({ fields }) {
  const named = (value) => {
    const [kind] = Object.keys(value);
    const inner = { structValue: wire, listValue: ({ values }) => ({ values: values.map(named) }) }[kind] ?? ((v) => v);
    return { kind, [kind]: inner(value[kind]) };
  };
  return { fields: Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, named(value)])) };
}

describe('diff', () => {
  const cases = [
    { name: 'a line in the middle', before: 'a\nb\nc\nd\ne\n', after: 'a\nb\nX\nd\ne\n', range: [1, 5, 1, 5], lines: ' a| b|-c|+X| d| e' },
    { name: 'three lines of context', before: '1\n2\n3\n4\n5\n6\n7\n8\n9\n', after: '1\n2\n3\n4\nX\nY\n6\n7\n8\n9\n', range: [2, 7, 2, 8], lines: ' 2| 3| 4|-5|+X|+Y| 6| 7| 8' },
    { name: 'from nothing', before: '', after: 'a\n', range: [0, 0, 1, 1], lines: '+a' },
    { name: 'to nothing', before: 'a\n', after: '', range: [1, 1, 0, 0], lines: '-a' },
    { name: 'a repeated line', before: 'a\na\n', after: 'a\na\na\n', range: [1, 2, 1, 3], lines: ' a| a|+a' },
  ];
  for (const { name, before, after, range, lines } of cases) {
    it(name, () => {
      const [hunk] = diff(before, after).diff.hunks;
      const sign = { DIFF_LINE_OP_CONTEXT: ' ', DIFF_LINE_OP_ADD: '+', DIFF_LINE_OP_REMOVE: '-' };
      assert.equal(hunk.lines.map((l) => sign[l.op] + l.text).join('|'), lines);
      assert.deepEqual([hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines], range);
    });
  }

  it('of equal texts has no hunk', () => assert.deepEqual(diff('a\n', 'a\n').diff.hunks, []));
});

describe('arguments', () => {
  const schema = editNote.schema.input_schema;
  const good = { name: 'a.md', old_text: 'x', new_text: 'y' };
  const cases = [
    { name: 'missing', args: { ...good, new_text: undefined }, says: /^new_text: expected string, got undefined/ },
    { name: 'absent', args: { name: 'a.md', old_text: 'x' }, says: /^new_text: is required/ },
    { name: 'of another type', args: { ...good, name: 1 }, says: /^name: expected string, got number/ },
    { name: 'unknown', args: { ...good, constructor: 1 }, says: /^"constructor": there is no such argument/ },
  ];
  it('pass when they fit', () => check(schema, good));
  for (const { name, args, says } of cases) {
    it(name, () => assert.throws(() => check(schema, args), { category: 'INVALID_ARGUMENTS', message: says }));
  }
});

describe('configuration', () => {
  const secret = 'hunter2';
  const cases = [
    { name: 'without a required attribute', block: {}, says: 'folder: is required' },
    { name: 'of the wrong type', block: { folder: 3 }, says: 'folder: is no string' },
    { name: 'with an unknown attribute', block: { folder: '.', foldre: '.' }, says: 'foldre: there is no such attribute' },
    { name: 'with a secret that is too short', block: { folder: '.', seal_key: secret }, says: 'seal_key: it must have at least 16 characters' },
  ];
  for (const { name, block, says } of cases) {
    it(name, () => assert.throws(() => provider.configure(decode(provider.config, block)), { category: 'INVALID_ARGUMENTS', message: says }));
  }
});

describe('render', () => {
  it('shows what it does not know as JSON', () => {
    for (const payload of [null, 3, [], { notes: 5 }, { exit_code: 'x' }]) {
      assert.equal(provider.render(payload).code_block.language, 'json');
    }
  });
});

describe('the report of a cancelled call', () => {
  const cases = [
    { name: 'of one that says nothing', operation: async () => { throw new Error('aborted'); }, partial: {} },
    { name: 'of one that had just completed', operation: async () => ({ notes: 1 }), partial: { notes: 1 } },
    { name: 'of one that reports', operation: async (call) => call.report('half', { notes: 2 }), partial: { notes: 2 } },
  ];
  for (const { name, operation, partial } of cases) {
    it(`${name} has a partial_result`, async () => {
      const reports = [];
      const kernel = { emitCancelled: async (session, id, note, details) => reports.push({ session, id, details }), sent: async () => {} };
      const rpc = new EventEmitter().on('error', ({ details }) => assert.equal(details, 'cancelled'));
      const call = new Call(rpc, kernel, { id: 'c1', name: 'x', context: { session_id: 's1' }, signal: AbortSignal.abort() });
      await call.finish(operation);
      assert.deepEqual(reports, [{ session: 's1', id: 'c1', details: { partial_result: partial, output: '', output_encoding: undefined } }]);
    });
  }
});

describe('errors', () => {
  const cases = [
    { name: 'of a category', thrown: new ToolFailure('NOT_FOUND', 'no'), category: 'NOT_FOUND' },
    { name: 'of the system', thrown: Object.assign(new Error('no'), { code: 'EACCES' }), category: 'PERMISSION_DENIED' },
    { name: 'of any other kind', thrown: new TypeError('no'), category: 'UNKNOWN' },
    { name: 'without a message', thrown: new Error(), category: 'UNKNOWN' },
    { name: 'that are none', thrown: undefined, category: 'UNKNOWN' },
  ];
  for (const { name, thrown, category } of cases) {
    it(name, () => {
      const error = asToolError(thrown);
      assert.equal(error.category, `TOOL_ERROR_CATEGORY_${category}`);
      assert.notEqual(error.message, '');
      assert.equal(category === 'UNKNOWN', error.details !== undefined, 'an unknown one has its cause');
    });
  }
});

'use strict';
// The notes: the Markdown files directly in one folder. A name is a plain file name, so there is no way out of it.

const { createHmac, randomBytes } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const { ToolFailure, quoted } = require('../plugin/errors.js');

const limit = 1024 * 1024;
const plain = /^[A-Za-z0-9_][A-Za-z0-9._ -]*\.md$/;

/** Notes reads and writes the notes of a folder. */
class Notes {
  #folder;
  #sealKey;

  constructor(folder, sealKey) {
    this.#folder = folder;
    this.#sealKey = sealKey;
  }

  get folder() {
    return this.#folder;
  }

  /** list is every note, by name. What is no regular file is not a note. */
  list() {
    return fs.readdirSync(this.#folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && plain.test(entry.name))
      .map((entry) => entry.name)
      .sort();
  }

  /** read gives the text of a note, and refuses what is not UTF-8. */
  read(name) {
    const file = this.#path(name);
    let fd;
    try {
      // A link could lead out of the folder, and a pipe would block before it is seen to be one.
      fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK);
      const info = fs.fstatSync(fd);
      if (!info.isFile()) {
        throw new ToolFailure('INVALID_ARGUMENTS', `${name} is no regular file`, { argument: 'name' });
      }
      if (info.size > limit) {
        throw new ToolFailure('EXECUTION_FAILED', `${name} has ${info.size} bytes; notes of at most ${limit} are read`);
      }
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(fs.readFileSync(fd));
    } catch (error) {
      throw explained(error, name, this.list());
    } finally {
      if (fd !== undefined) {
        fs.closeSync(fd);
      }
    }
  }

  /** write replaces the text of a note at once: nobody ever sees half of it. */
  write(name, text) {
    const file = this.#path(name);
    const { mode } = fs.lstatSync(file);
    const temporary = path.join(this.#folder, `.${name}.${randomBytes(6).toString('hex')}`);
    try {
      fs.writeFileSync(temporary, text, { flag: 'wx', mode: mode & 0o777, flush: true });
      fs.renameSync(temporary, file);
    } catch (error) {
      fs.rmSync(temporary, { force: true });
      throw error;
    }
  }

  /** checkSize refuses a text that could not be read again. */
  checkSize(name, text) {
    const bytes = Buffer.byteLength(text);
    if (bytes > limit) {
      throw new ToolFailure('EXECUTION_FAILED', `${name} would have ${bytes} bytes; a note has at most ${limit}`);
    }
    return bytes;
  }

  /** seal is a keyed digest of a text, by which a change made elsewhere is seen; undefined without a key. */
  seal(text) {
    return this.#sealKey && createHmac('sha256', this.#sealKey).update(text).digest('hex');
  }

  #path(name) {
    if (!plain.test(name)) {
      throw new ToolFailure('INVALID_ARGUMENTS',
        `name: ${quoted(name)} is no name of a note: it must be a plain file name that ends with .md`, { argument: 'name' });
    }
    return path.join(this.#folder, name);
  }
}

function explained(error, name, names) {
  switch (error.code) {
    case 'ENOENT':
      return new ToolFailure('NOT_FOUND', `there is no note ${name}; there is ${names.slice(0, 20).join(', ') || 'none'}`);
    case 'ELOOP':
      return new ToolFailure('PERMISSION_DENIED', `${name} is a link, and links are not followed`);
    case 'ERR_ENCODING_INVALID_ENCODED_DATA':
      return new ToolFailure('EXECUTION_FAILED', `${name} is not UTF-8 text`);
    default:
      return error;
  }
}

module.exports = { Notes };

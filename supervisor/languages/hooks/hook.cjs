// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Loaded by --require before each JavaScript program: has the exception that ends the program told
// on the channel, in fields "name=value\0", and leaves all else as if it had not been there.
// Worker threads load it, too.
'use strict';

const { fstatSync, writeSync } = require('fs');
const { isMainThread } = require('worker_threads');

const CHANNEL = 3; // Node.js itself sees to it that no other program gets it
const MOST = 48 * 1024; // bytes of a traceback
const SHORT = 4 * 1024; // and of any other field

let prelude = process.env.WARDCASE_PRELUDE;

function shortened(text, most) {
  const part = (most / 2) | 0;
  if (text.length > most) text = `${text.slice(0, part)} ... ${text.slice(-part)}`;
  const bytes = Buffer.from(text.replace(/\0/g, '\ufffd'));
  if (bytes.length <= most) return bytes;
  return Buffer.concat([bytes.subarray(0, part), Buffer.from(' ... '), bytes.subarray(-part)]);
}

function typeOf(error) {
  const made = error?.constructor?.name;
  if (!(error instanceof Error)) return made ?? String(error);
  return error.name === 'Error' && made ? made : error.name;
}

function messageOf(error) {
  if (error instanceof Error) return error.message;
  if (typeof error !== 'object') return String(error);
  return require('util').inspect(error, { depth: 1, maxArrayLength: 10, maxStringLength: 100 });
}

// Cannot find module './x', package 'x': what stands in the first quotes.
function moduleOf(error) {
  if (!/^(ERR_)?MODULE_NOT_FOUND$/.test(error?.code)) return undefined;
  return /'([^']*)'/.exec(error.message)?.[1];
}

// "FILE:LINE", and the line itself below it.
function syntaxOf(error) {
  if (!(error instanceof SyntaxError)) return undefined;
  return /^(\S.*):(\d+)\n/.exec(error.stack) ?? undefined;
}

const FIELDS = {
  traceback: (error) => error?.stack,
  type: typeOf,
  message: messageOf,
  code: (error) => error?.code,
  module: moduleOf,
  errno: (error) => error?.errno && Math.abs(error.errno),
  path: (error) => error?.path,
  file: (error) => syntaxOf(error)?.[1],
  line: (error) => syntaxOf(error)?.[2],
};

function tell(bytes) {
  while (bytes.length > 0) bytes = bytes.subarray(writeSync(CHANNEL, bytes));
}

function report(error) {
  for (const [name, valueOf] of Object.entries(FIELDS)) {
    try {
      const value = valueOf(error);
      if (typeof value !== 'string' && typeof value !== 'number') continue;
      const text = shortened(String(value), name === 'traceback' ? MOST : SHORT);
      tell(Buffer.concat([Buffer.from(`${name}=`), text, Buffer.from('\0')]));
    } catch {
      // The program's own code, as in a getter.
    }
  }
}

function isCaught() {
  return process.listenerCount('uncaughtException') > 0 || process.hasUncaughtExceptionCaptureCallback();
}

function begin() {
  const told = fstatSync(CHANNEL);
  process.on('uncaughtExceptionMonitor', (error) => {
    try {
      if (isCaught()) return;
      if (prelude) error.stack = error.stack.replace(/\n {4}at (Script\.runInThisContext|new Script) [^]*$/, '');
      const now = fstatSync(CHANNEL);
      if (now.dev === told.dev && now.ino === told.ino) report(error);
    } catch {
      // It has closed the channel, or frozen its error.
    }
  });
}

// In the global scope: what it declares there is seen by all of the program.
function runPrelude() {
  const { readFileSync } = require('fs');
  const { createRequire } = require('module');
  const { runInThisContext } = require('vm');
  delete process.env.WARDCASE_PRELUDE;
  const value = createRequire(process.argv[1]);
  Object.defineProperty(globalThis, 'require', { value, configurable: true, writable: true });
  tell(Buffer.from('prelude=begin\0'));
  runInThisContext(readFileSync(prelude, 'utf8'), { filename: prelude });
  tell(Buffer.from('prelude=done\0'));
  prelude = undefined;
}

process.execArgv.splice(0, process.execArgv.indexOf('--require') + 2);
delete require.cache[__filename];
if (isMainThread) {
  begin();
  if (prelude) runPrelude();
}

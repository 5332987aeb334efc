// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Interprets the JavaScript programs of a session, one after the other, in one global scope. What
// arrives and what is answered is in supervisor/agent/README.md. The programs run in this very
// process and can do to it what they like, to the harm of their own session; what holds is that
// nothing they print, and nothing that they start, is taken for an answer. Node.js 18 or newer.
//
// V8's inspector evaluates: as in a browser's console a name may be declared anew, and `await`
// stands at the top. Between programs, and while one awaits, the event loop turns.
'use strict';

const fs = require('fs');
const inspector = require('inspector');
const Module = require('module');
const net = require('net');
const { Writable } = require('stream');
const util = require('util');
const vm = require('vm');

const kChannel = 3; // close-on-exec: Node.js makes all so that it inherits
const kMaxFrame = 16 << 20;
const kMaxText = 64 << 10; // of a result's text, a message, a traceback
const kMaxMime = 8 << 20;
const kMaxJson = 64 << 10; // of plain data that is told as JSON, too
const kInterrupted = 130;
const kLookMs = 50;
const kInterruptCode = 'ERR_SCRIPT_EXECUTION_INTERRUPTED'; // as vm says it
const kMime = Symbol.for('wardcase.mime'); // a method that returns {kind: text, bytes or data}
const kGuarded = Symbol('guarded');

const AsyncFunction = (async () => {}).constructor;
const write = fs.writeSync;
const read = fs.readSync;

function cut(text, limit = kMaxText) {
  if (text.length <= limit) return text;
  const half = limit >> 1;
  const left = text.length - 2 * half;
  return `${text.slice(0, half)}\n[${left} characters left out]\n${text.slice(-half)}`;
}

// ---- The channel ------------------------------------------------------------------------------

// Half of a surrogate pair, which no other JSON may have.
const kLone = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const whole = (_, value) => (typeof value === 'string' ? value.replace(kLone, '\ufffd') : value);

// Waits where the socket is full.
function send(message) {
  const body = Buffer.from(JSON.stringify(message, whole));
  const frame = Buffer.allocUnsafe(4 + body.length);
  frame.writeUInt32BE(body.length);
  body.copy(frame, 4);
  for (let at = 0; at < frame.length;) {
    try {
      at += write(kChannel, frame, at);
    } catch (error) {
      if (error.code !== 'EAGAIN') process.exit(0);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

// Frame after frame, and no byte too many: what comes after a program waits in the socket while
// it runs. `take` returns whether it wants the next one now.
class Frames {
  constructor(take) {
    this.take = take;
    this.expect(Buffer.alloc(4), true);
    this.socket = new net.Socket({
      fd: kChannel,
      onread: { buffer: () => this.rest, callback: (size) => this.onRead(size) },
    });
    this.socket.on('end', () => process.exit(0)).on('error', () => process.exit(0));
    this.socket.resume();
  }

  expect(rest, isHead) {
    this.whole = this.rest = rest;
    this.isHead = isHead;
  }

  onRead(size) {
    this.rest = this.rest.subarray(size);
    if (this.rest.length > 0) return true;
    const whole = this.whole;
    if (this.isHead) {
      const length = whole.readUInt32BE();
      if (length > kMaxFrame) process.exit(1);
      this.expect(Buffer.alloc(length), false);
      return true;
    }
    this.expect(Buffer.alloc(4), true);
    return this.take(JSON.parse(whole.toString()));
  }

  next() {
    this.socket.read(0);
    this.socket._handle.readStart();
  }
}

// ---- What is imported -------------------------------------------------------------------------

// A module of the directory that the session began in: what it requires and imports is looked
// for from there.
const home = new Module(`${process.cwd()}/session.js`);
home.filename = home.id;
home.paths = Module._nodeModulePaths(process.cwd());
process.mainModule = home;
home._compile('module.exports = [require, (name, options) => import(name, options)];', home.filename);
const [homeRequire, homeImport] = home.exports;
homeRequire.main = home;
home.exports = {};
home.loaded = true;

// What was installed later is beside it, each with all that it needs. An import looks where its
// module is: so there is one for each place, and what an earlier place has is taken from there.
const importers = [homeImport];
const kBareName = /^[^./]/;
async function importModule(name, options) {
  let missing;
  for (const importer of importers) {
    try {
      return await importer(name, options);
    } catch (error) {
      if (error?.code !== 'ERR_MODULE_NOT_FOUND' || !kBareName.test(name)) throw error;
      missing ??= error;
    }
  }
  throw missing;
}

function addModules(directory) {
  const place = `${directory}/node_modules`;
  process.env.PATH = [`${place}/.bin`, process.env.PATH].filter(Boolean).join(':');
  if (home.paths.includes(place)) return;
  home.paths.push(place);
  const module = new Module(`${directory}/session.js`);
  module.filename = module.id;
  module._compile('module.exports = (name, options) => import(name, options);', module.filename);
  importers.push(module.exports);
  process.env.NODE_PATH = [process.env.NODE_PATH, place].filter(Boolean).join(':');
}

// `import` as a word of the program itself: not in strings, comments and regular expressions.
// What is evaluated has no way to import of its own, and is no module.
const kClause = /import\s*(?:([\w$]+)\s*,?\s*)?(?:\*\s*as\s+([\w$]+)\s*|\{([^}]*)\}\s*)?(?:from\s*)?(['"])([^'"\n]*)\4(?:\s*(?:with|assert)\s*(\{[^}]*\}))?/y;
const kSkipped = [/\/\/.*/y, /\/\*[^]*?\*\//y, /'(?:\\[^]|[^'\\\n])*'/y, /"(?:\\[^]|[^"\\\n])*"/y];
const kRegExp = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y;
const kWord = /[\w$\u0080-\uffff]+/y;
const kBeforeRegExp = /(?:^|[-(,=:[!&|?{};+*%<>~^]|\b(?:return|typeof|case|in|of|do|else|void|await|throw|new|delete))\s*$/;

function matchAt(pattern, code, at) {
  pattern.lastIndex = at;
  return pattern.exec(code);
}

function staticImport([, main, all, some, , name, options]) {
  const source = `await $mport(${JSON.stringify(name)}${options ? `, {with: ${options}}` : ''})`;
  if (all !== undefined) {
    return `const ${all} = ${source}${main ? `, {default: ${main}} = ${all}` : ''}`;
  }
  const names = [main && `default: ${main}`, some && some.replace(/\bas\b/g, ':')].filter(Boolean);
  return names.length > 0 || some !== undefined ? `const {${names.join(', ')}} = ${source}` : source;
}

function rewriteImports(code) {
  if (!/\bimport\b/.test(code)) return code;
  let out = '';
  const depths = []; // of braces, for each template that we are in
  let depth = 0;
  let inTemplate = false;
  for (let at = 0; at < code.length;) {
    const c = code[at];
    if (inTemplate) {
      const part = matchAt(/(?:\\[^]|\$(?!\{)|[^\\`$])*(`|\$\{|$)/y, code, at);
      if (part[1] === '${') depths.push(depth);
      inTemplate = false;
      out += part[0];
      at += part[0].length || 1;
      continue;
    }
    let skipped = kSkipped.map((pattern) => matchAt(pattern, code, at)).find(Boolean);
    if (!skipped && c === '/' && kBeforeRegExp.test(out.slice(-40))) skipped = matchAt(kRegExp, code, at);
    const word = skipped ? null : matchAt(kWord, code, at);
    if (word && word[0] === 'import' && !/[.]\s*$/.test(out)) {
      const rest = code.slice(at + 6).trimStart()[0];
      const clause = depth === 0 && rest !== '(' && rest !== '.' ? matchAt(kClause, code, at) : null;
      out += clause ? staticImport(clause) : rest === '(' ? '$mport' : 'import';
      at += clause ? clause[0].length : 6;
      continue;
    }
    const token = skipped ? skipped[0] : word ? word[0] : c;
    if (token === '{') depth += 1;
    if (token === '`') inTemplate = true;
    if (token === '}') {
      if (depths.length > 0 && depths[depths.length - 1] === depth) {
        depths.pop();
        inTemplate = true;
      } else {
        depth -= 1;
      }
    }
    out += token;
    at += token.length;
  }
  return out;
}

// ---- Evaluating -------------------------------------------------------------------------------

const session = new inspector.Session();
session.connect();
const holder = {}; // through which a value of the inspector's becomes one of ours
let holderId;

// SIGINT is the watchdog's, a thread of Node.js that the REPL has for this: what is in guarded()
// is ended by it, and throws; one that comes elsewhere is remembered. No listener for the signal
// would do: vm takes listeners away while it runs, and without one a SIGINT ends the process.
const watchdog = process.binding('contextify');

// Forgets what came before the program, and takes the signal back from a program that listened.
// None is under way now: the watchdog would keep one that it has not seen yet for later.
let isOurs = true;
function watchAnew() {
  if (isOurs && !watchdog.watchdogHasPendingSigint()) return;
  watchdog.stopSigintWatchdog();
  watchdog.startSigintWatchdog();
  isOurs = process.listenerCount('SIGINT') === 0;
}
watchdog.startSigintWatchdog();
process.on('newListener', (name) => { if (name === 'SIGINT') isOurs = false; });

const guardedScript = new vm.Script(`globalThis[Symbol.for('wardcase.guarded')]()`, { filename: 'wardcase' });
function guarded(run) {
  let result;
  const value = () => {
    delete process.listenerCount;
    result = run();
  };
  Object.defineProperty(globalThis, Symbol.for('wardcase.guarded'), { configurable: true, enumerable: false, value });
  process.listenerCount = () => 0; // those of the program stay
  try {
    guardedScript.runInThisContext({ breakOnSigint: true, displayErrors: false });
  } finally {
    delete process.listenerCount;
    delete globalThis[Symbol.for('wardcase.guarded')];
  }
  return result;
}

function isInterrupt(error) {
  return error !== null && typeof error === 'object' && error.code === kInterruptCode;
}

function argumentOf({ type, value, objectId, unserializableValue }) {
  if (objectId !== undefined) return { objectId };
  if (unserializableValue !== undefined) return { unserializableValue };
  return type === 'undefined' ? {} : { value };
}

function valueOf(remote) {
  session.post('Runtime.callFunctionOn', {
    objectId: holderId, functionDeclaration: 'function (value) { this.value = value; }',
    arguments: [argumentOf(remote)], silent: true,
  });
  const value = holder.value;
  delete holder.value;
  return value;
}

// ---- Telling ----------------------------------------------------------------------------------

// Of a stack what is the program's: below it there are frames of ours and of the inspector.
function trimmed(text) {
  const lines = text.split('\n');
  const end = lines.findIndex((line) => /^\s+at .*(node:inspector|wardcase:\d+:\d+|node_worker\.cjs)/.test(line));
  if (end < 0) return text;
  let next = end;
  while (next < lines.length && /^\s+at /.test(lines[next])) next += 1;
  const rest = lines.slice(next);
  // What inspect() appends to a stack stands in braces behind its last frame.
  if (/ \{$/.test(lines[next - 1])) rest.unshift('    {');
  return [...lines.slice(0, end), ...rest].join('\n');
}

function inspect(value) {
  try {
    return cut(trimmed(util.inspect(value)));
  } catch (error) {
    if (isInterrupt(error)) throw error;
    return `<inspect failed: ${shortly(error)}>`;
  }
}

function shortly(error) {
  try {
    return cut(String(error), 1024);
  } catch {
    return '<its text can not be had>';
  }
}

function isPlain(value) {
  if (value === null || typeof value !== 'object') return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || prototype === Array.prototype;
}

function mimeOf(value, notes) {
  const mime = {};
  let room = kMaxMime;
  const take = (kind, offered) => {
    let data = offered;
    if (ArrayBuffer.isView(data)) data = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64');
    if (typeof data !== 'string') data = JSON.stringify(data);
    if (typeof data !== 'string') return;
    const size = kind.length + Buffer.byteLength(data);
    if (size > room) {
      notes.push(`<${kind} left out: ${size} bytes, and all may have ${kMaxMime}>`);
      return;
    }
    room -= size;
    mime[kind] = data;
  };
  try {
    if (value !== null && (typeof value === 'object' || typeof value === 'function') && typeof value[kMime] === 'function') {
      for (const [kind, offered] of Object.entries(value[kMime]() ?? {})) take(kind, offered);
    } else if (isPlain(value)) {
      const text = JSON.stringify(value);
      if (text.length <= kMaxJson) take('application/json', text);
    }
  } catch (error) {
    if (isInterrupt(error)) throw error;
    if (!isPlain(value)) notes.push(`<${shortly(error)}>`); // what has no JSON is no mistake
  }
  return mime;
}

function describeResult(value) {
  if (value === undefined) return null;
  const notes = [];
  const text = inspect(value);
  const mime = mimeOf(value, notes);
  return { text: [text, ...notes].join('\n'), mime };
}

function typeOf(error) {
  if (error.code === 'MODULE_NOT_FOUND' || error.code === 'ERR_MODULE_NOT_FOUND') return 'ImportError';
  if (error.code === 'EACCES' || error.code === 'EPERM') return 'PermissionError';
  return typeof error.name === 'string' && error.name !== '' ? error.name : 'Error';
}

function describeSyntaxError(error, details, name, code) {
  const lines = code.split('\n');
  const line = Math.min(details.lineNumber, lines.length - 1);
  const column = line === details.lineNumber ? details.columnNumber : lines[line].length;
  const text = cut(lines[line], 1024);
  return {
    type: 'SyntaxError', message: cut(error.message), line: line + 1, column: column + 1, text,
    traceback: `${name}:${line + 1}\n${text}\n${' '.repeat(Math.min(column, 1024))}^\nSyntaxError: ${cut(error.message)}\n`,
  };
}

function describeError(error, details, name, code) {
  if (!util.types.isNativeError(error)) {
    const text = inspect(error);
    return { type: 'Error', message: text, traceback: `Uncaught ${text}\n` };
  }
  const stack = typeof error.stack === 'string' ? error.stack : '';
  if (error.name === 'SyntaxError' && !stack.includes(`${name}:`)) {
    return describeSyntaxError(error, details, name, code);
  }
  const told = { type: typeOf(error), message: cut(String(error.message)), traceback: `Uncaught ${inspect(error)}\n` };
  const missing = told.type === 'ImportError' && /Cannot find (?:module|package) '([^']*)'/.exec(told.message);
  if (missing) told.module = cut(missing[1], 256);
  return told;
}

// ---- Programs ---------------------------------------------------------------------------------

let running = null; // {id, name, code, end: what is to be answered once the nonce is here}

// An interrupt in the midst of a write leaves a stream that writes for ever, and keeps what comes
// after. What was to be written is written: these streams wait for nothing.
function mend(stream) {
  const state = stream._writableState;
  while (stream.writableCorked > 0) stream.uncork();
  if (stream.destroyed || stream.writableEnded || !(state.writing || stream.writableLength > 0)) return;
  stream._writableState = new Writable.WritableState({ decodeStrings: false, emitClose: false }, stream, true);
  stream.emit('drain');
}

function end(program, how) {
  if (program.end !== undefined) return; // interrupted before
  if (how.interrupted) for (const stream of [process.stdout, process.stderr]) mend(stream);
  clearInterval(program.timer);
  program.end = {
    type: 'done', id: program.id, exit_code: 0, exit: false, interrupted: false, error: null, result: null, ...how,
  };
  session.post('Runtime.releaseObjectGroup', { objectGroup: 'program' });
  session.post('Runtime.discardConsoleEntries');
  frames.next(); // the nonce
}

const interrupted = { exit_code: kInterrupted, interrupted: true };

function failed(error, details, program) {
  if (isInterrupt(error)) return interrupted;
  // It ended a child, too, whose end can be here first.
  if (util.types.isNativeError(error) && error.signal === 'SIGINT') return interrupted;
  const told = describeError(error, details, program.name, program.code);
  write2(told.traceback);
  return { exit_code: 1, error: told };
}

function write2(text) {
  try {
    process.stderr.write(text);
  } catch {
    // Closed, or the program's own.
  }
}

// What the inspector said of the program, once it has ended.
function settle(program, { result, exceptionDetails: details }) {
  if (program.end !== undefined) return;
  let how;
  try {
    how = guarded(() => {
      if (details !== undefined) return failed(valueOf(details.exception ?? result), details, program);
      const value = valueOf(result);
      if (value !== undefined) setLast(value);
      return { result: describeResult(value) };
    });
  } catch (error) {
    how = isInterrupt(error) ? interrupted : { exit_code: 1, error: { type: 'Error', message: shortly(error), traceback: '' } };
  }
  end(program, how);
}

function setLast(value) {
  Object.defineProperty(globalThis, '_', { configurable: true, enumerable: false, writable: true, value });
}

// No code of the program's need run, so that an interrupt has to be looked for.
function watchAwaited(program) {
  program.timer = setInterval(() => {
    if (watchdog.watchdogHasPendingSigint()) end(program, interrupted);
  }, kLookMs);
}

function execute(program) {
  running = program;
  watchAnew();
  let said; // by the inspector, if the program ended at once
  let isSynchronous = true;
  const parameters = {
    expression: `${rewriteImports(program.code)}\n//# sourceURL=${program.name}`,
    replMode: true, awaitPromise: true, objectGroup: 'program', silent: true,
  };
  try {
    guarded(() => {
      send({ type: 'begun', id: program.id });
      session.post('Runtime.evaluate', parameters, (error, answer) => {
        if (error) answer = { result: { type: 'string', value: error.message }, exceptionDetails: {} };
        if (isSynchronous) said = answer; else settle(program, answer);
      });
    });
  } catch (error) {
    if (said === undefined) end(program, isInterrupt(error) ? interrupted : failed(error, {}, program));
  }
  isSynchronous = false;
  if (said !== undefined) settle(program, said);
  if (program.end === undefined) watchAwaited(program);
}

// Parsed, and no more. What is not evaluated needs the inspector's own view of contexts.
function compile(expression, name) {
  let details;
  session.post('Runtime.enable');
  session.post('Runtime.compileScript', { expression, sourceURL: name, persistScript: false }, (_, answer) => {
    details = answer?.exceptionDetails;
  });
  session.post('Runtime.disable');
  return details;
}

// What awaits at its top is what the body of such a function may be. The two differ where it
// closes the function's brace itself: then the first mistake is the one.
function findMistake(code, name) {
  const details = compile(code, name);
  if (details === undefined || !/\bawait\b/.test(code)) return details;
  const head = '(async () => {';
  const inner = compile(`${head}${code}\n})`, name);
  if (inner !== undefined) {
    return inner.lineNumber > 0 ? inner : { ...inner, columnNumber: inner.columnNumber - head.length };
  }
  try {
    new AsyncFunction(code);
    return undefined;
  } catch {
    return details;
  }
}

function check(program) {
  running = program;
  send({ type: 'begun', id: program.id });
  const details = findMistake(rewriteImports(program.code), program.name);
  if (details === undefined) return end(program, {});
  const error = valueOf(details.exception);
  return end(program, { exit_code: 1, error: describeSyntaxError(error, details, program.name, program.code) });
}

function take(message) {
  if (running !== null && running.end !== undefined) {
    const { end: done } = running;
    running = null;
    send({ ...done, nonce: message.nonce });
    return true;
  }
  if (message.type === 'exec') {
    // In a turn of its own: this one stops the reading.
    setImmediate(execute, { id: message.id, name: message.name, code: message.code });
    return false;
  }
  if (message.type === 'check') {
    setImmediate(check, { id: message.id, name: message.name, code: message.code });
    return false;
  }
  if (message.type === 'path') {
    addModules(message.add);
    send({ type: 'ok' });
  }
  return true;
}

// ---- The beginning ----------------------------------------------------------------------------

// Of what nobody waits for. The session lives on.
process.on('uncaughtException', (error) => {
  write2(`Uncaught ${inspect(error)}\n`);
});

for (const stream of [process.stdout, process.stderr]) {
  stream._handle?.setBlocking?.(true); // all is in the pipe when the end is told
  stream.on('error', () => {});
}

process.argv = [process.execPath, ''];
const globals = {
  require: homeRequire, module: home, exports: home.exports, $mport: importModule,
  __filename: home.filename, __dirname: process.cwd(),
};
for (const [name, value] of Object.entries(globals)) {
  Object.defineProperty(globalThis, name, { configurable: true, enumerable: false, writable: true, value });
}

Object.defineProperty(globalThis, kGuarded, { configurable: true, value: holder });
session.post('Runtime.evaluate', { expression: 'globalThis' }, (_, { result }) => {
  session.post('Runtime.callFunctionOn', {
    objectId: result.objectId,
    functionDeclaration: 'function () { return this[Object.getOwnPropertySymbols(this).find((s) => s.description === "guarded")]; }',
  }, (__, answer) => { holderId = answer.result.objectId; });
});
delete globalThis[kGuarded];

setInterval(() => {}, 1 << 30); // while a program runs nothing is read, and the loop goes on
const frames = new Frames(take);
send({ type: 'ready', version: process.versions.node });

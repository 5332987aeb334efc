// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Child processes: exec, spawn with pipes, fork with a channel, signals, synchronous calls.
'use strict';
const assert = require('assert');
const {execFileSync, execSync, fork, spawn} = require('child_process');
const {once} = require('events');

async function main() {
  assert.strictEqual(execSync('echo $((6 * 7))').toString(), '42\n');
  const echoed = execFileSync('cat', {input: 'x'.repeat(200_000)});
  assert.strictEqual(echoed.length, 200_000);
  assert.throws(() => execSync('exit 5', {stdio: 'ignore'}), (error) => error.status === 5);

  const upper = spawn('tr', ['a-z', 'A-Z']);
  upper.stdin.end('quiet');
  let said = '';
  for await (const chunk of upper.stdout) said += chunk;
  assert.strictEqual(said, 'QUIET');

  const sleeper = spawn('sleep', ['60']);
  sleeper.kill();
  assert.deepStrictEqual(await once(sleeper, 'exit'), [null, 'SIGTERM']);

  const child = fork(__filename, ['child']);
  child.send({numbers: [1, 2, 3]});
  assert.deepStrictEqual(await once(child, 'message').then(([m]) => m), {sum: 6});
  assert.deepStrictEqual(await once(child, 'exit'), [0, null]);
  console.log('works');
}

if (process.argv[2] === 'child') {
  process.on('message', ({numbers}) => {
    process.send({sum: numbers.reduce((a, b) => a + b)}, () => process.disconnect());
  });
} else {
  main();
}

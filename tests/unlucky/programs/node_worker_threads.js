// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Worker threads: messages, shared memory, atomics.
'use strict';
const assert = require('assert');
const {Worker, isMainThread, parentPort, workerData} = require('worker_threads');

if (!isMainThread) {
  const counter = new Int32Array(workerData.shared);
  for (let i = 0; i < 1000; ++i) Atomics.add(counter, 0, 1);
  parentPort.postMessage(workerData.number ** 2);
} else {
  const shared = new SharedArrayBuffer(4);
  const run = (number) => new Promise((resolve, reject) => {
    const worker = new Worker(__filename, {workerData: {number, shared}});
    worker.on('message', resolve);
    worker.on('error', reject);
  });
  Promise.all([1, 2, 3, 4].map(run)).then((squares) => {
    assert.deepStrictEqual(squares, [1, 4, 9, 16]);
    assert.strictEqual(new Int32Array(shared)[0], 4000);
    console.log('works');
  });
}

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// A cluster: two workers that share one listening socket, which is passed to them.
'use strict';
const assert = require('assert');
const cluster = require('cluster');
const http = require('http');

if (cluster.isPrimary) {
  const workers = [cluster.fork(), cluster.fork()];
  let listening = 0;
  cluster.on('listening', async (worker, address) => {
    if (++listening < workers.length) return;
    const answered = new Set();
    for (let i = 0; i < 20; ++i) {
      const answer = await fetch(`http://127.0.0.1:${address.port}/`, {headers: {connection: 'close'}});
      answered.add(await answer.text());
    }
    for (const one of workers) one.disconnect();
    const known = workers.map((one) => String(one.process.pid));
    assert([...answered].every((pid) => known.includes(pid)));
    assert.strictEqual(answered.size, 2);
    console.log('works');
  });
} else {
  http.createServer((request, answer) => answer.end(String(process.pid))).listen(18080, '127.0.0.1');
}

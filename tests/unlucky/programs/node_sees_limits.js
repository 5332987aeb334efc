// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// The processors and the memory of the box, as Node and its heap see them.
'use strict';
const assert = require('assert');
const os = require('os');
const v8 = require('v8');

const [cpus, mebibytes] = process.argv.slice(2).map(Number);
assert.strictEqual(os.availableParallelism(), cpus);
// Room is left for what is not heap; V8 adds its own part for young objects.
const heap = v8.getHeapStatistics().heap_size_limit / 2 ** 20;
assert(heap <= mebibytes, `${heap} MiB of heap in ${mebibytes} MiB`);
assert(heap >= mebibytes / 2, `${heap} MiB of heap in ${mebibytes} MiB`);
assert.strictEqual(os.homedir(), os.userInfo().homedir);
assert.strictEqual(os.userInfo().username, 'user');
assert.strictEqual(os.tmpdir(), '/tmp');
assert(os.cpus().length >= cpus && os.totalmem() > 0 && os.uptime() > 0);
assert(Object.keys(os.networkInterfaces()).includes('lo'));
console.log('works');

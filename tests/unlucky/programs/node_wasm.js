// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// WebAssembly, which makes code at run time and reserves far more address space than it uses.
'use strict';
const assert = require('assert');

// (func (export "add") (param i32 i32) (result i32) local.get 0 local.get 1 i32.add)
const code = Buffer.from(
    '0061736d0100000001070160027f7f017f030201000707010361646400000a09010700200020016a0b', 'hex');

WebAssembly.instantiate(code).then(({instance}) => {
  assert.strictEqual(instance.exports.add(40, 2), 42);
  const memories = [];
  for (let i = 0; i < 4; ++i) memories.push(new WebAssembly.Memory({initial: 1, maximum: 65536}));
  memories[3].grow(15);
  assert.strictEqual(memories[3].buffer.byteLength, 1 << 20);
  let sum = 0;  // long enough to be compiled by the optimizer
  for (let i = 0; i < 1e6; ++i) sum = instance.exports.add(sum, i & 1);
  assert.strictEqual(sum, 500_000);
  console.log('works');
});

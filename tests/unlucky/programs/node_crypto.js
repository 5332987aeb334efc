// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Random numbers, hashes, keys made in the thread pool, signatures, Web Crypto.
'use strict';
const assert = require('assert');
const crypto = require('crypto');
const {promisify} = require('util');

async function main() {
  assert.strictEqual(crypto.randomBytes(32).length, 32);
  assert.strictEqual(crypto.createHash('sha256').update('abc').digest('hex').slice(0, 8), 'ba7816bf');
  const key = await promisify(crypto.scrypt)('password', 'salt', 32);
  const nonce = crypto.randomBytes(12);
  const cipher = crypto.createCipheriv('aes-256-gcm', key, nonce);
  const sealed = Buffer.concat([cipher.update('secret'), cipher.final()]);
  const open = crypto.createDecipheriv('aes-256-gcm', key, nonce).setAuthTag(cipher.getAuthTag());
  assert.strictEqual(Buffer.concat([open.update(sealed), open.final()]).toString(), 'secret');
  const pair = await promisify(crypto.generateKeyPair)('rsa', {modulusLength: 1024});
  const signature = crypto.sign('sha256', Buffer.from('text'), pair.privateKey);
  assert(crypto.verify('sha256', Buffer.from('text'), pair.publicKey, signature));
  const digest = await crypto.webcrypto.subtle.digest('SHA-1', Buffer.from('abc'));
  assert.strictEqual(Buffer.from(digest).toString('hex').slice(0, 8), 'a9993e36');
  console.log('works');
}
main();

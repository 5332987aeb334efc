// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Files: promises, streams, watching, recursive work, temporary directories.
'use strict';
const assert = require('assert');
const fs = require('fs');
const os = require('os');
const path = require('path');
const {pipeline} = require('stream/promises');
const zlib = require('zlib');

async function main() {
  const directory = await fs.promises.mkdtemp(path.join(os.tmpdir(), 'x-'));
  const file = path.join(directory, 'datei-ä.txt');
  await fs.promises.writeFile(file, 'one\n');
  await fs.promises.appendFile(file, 'two\n');
  assert.strictEqual(fs.readFileSync(file, 'utf8'), 'one\ntwo\n');
  await pipeline(fs.createReadStream(file), zlib.createGzip(), fs.createWriteStream(`${file}.gz`));
  assert.strictEqual(zlib.gunzipSync(fs.readFileSync(`${file}.gz`)).toString(), 'one\ntwo\n');

  const seen = new Promise((resolve) => {
    const watcher = fs.watch(directory, (kind, name) => {
      if (name !== 'new') return;
      watcher.close();
      resolve(name);
    });
  });
  fs.writeFileSync(path.join(directory, 'new'), '');
  assert.strictEqual(await seen, 'new');

  fs.mkdirSync(path.join(directory, 'a/b'), {recursive: true});
  fs.symlinkSync('../new', path.join(directory, 'a/link'));
  fs.copyFileSync(file, path.join(directory, 'a/b/copy'));
  fs.renameSync(path.join(directory, 'a'), path.join(directory, 'moved'));
  fs.cpSync(path.join(directory, 'moved'), '/box/copied', {recursive: true});
  assert.deepStrictEqual(fs.readdirSync('/box/copied').sort(), ['b', 'link']);
  fs.chmodSync(file, 0o600);
  fs.utimesSync(file, 1, 2);
  assert.strictEqual(fs.statSync(file).mtimeMs, 2000);
  fs.rmSync(directory, {recursive: true});
  fs.writeFileSync(path.join(os.homedir(), 'kept'), '');
  assert(!fs.existsSync(directory));
  console.log('works');
}
main();

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// A server and its clients on the loopback device: HTTP, names, TCP over IPv6, UDP, UNIX sockets.
'use strict';
const assert = require('assert');
const dgram = require('dgram');
const http = require('http');
const net = require('net');
const {once} = require('events');

async function main() {
  const server = http.createServer(async (request, answer) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    answer.setHeader('content-type', 'application/json');
    answer.end(JSON.stringify({method: request.method, length: body.length}));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}/`;
  const asked = Array.from({length: 20}, () => fetch(url, {method: 'POST', body: 'x'.repeat(100_000)}));
  for (const answer of await Promise.all(asked)) {
    assert.deepStrictEqual(await answer.json(), {method: 'POST', length: 100_000});
  }
  const byName = await fetch(url.replace('127.0.0.1', 'localhost'));
  assert.strictEqual((await byName.json()).method, 'GET');
  server.close();
  server.closeAllConnections();

  for (const place of [{host: '::1', port: 0}, {path: '/tmp/s.sock'}]) {
    const echo = net.createServer((socket) => socket.pipe(socket)).listen(place);
    await once(echo, 'listening');
    const client = net.connect(place.path ? place : {host: '::1', port: echo.address().port});
    client.end('echo');
    let said = '';
    for await (const chunk of client) said += chunk;
    assert.strictEqual(said, 'echo');
    echo.close();
  }

  const receiver = dgram.createSocket('udp4').bind(0, '127.0.0.1');
  await once(receiver, 'listening');
  dgram.createSocket('udp4').unref().send('datagram', receiver.address().port, '127.0.0.1');
  const [message] = await once(receiver, 'message');
  assert.strictEqual(message.toString(), 'datagram');
  receiver.close();
  console.log('works');
}
main();

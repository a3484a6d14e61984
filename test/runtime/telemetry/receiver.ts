#!/usr/bin/env node
// Receives OTLP as JSON. Prints its port; GET answers with one body a line.
import { createServer } from 'node:http';
import { gunzipSync } from 'node:zlib';

const bodies: string[] = [];
const server = createServer(async (request, response) => {
  if (request.method === 'GET') return void response.end(bodies.join('\n'));
  const chunks = await Array.fromAsync(request as AsyncIterable<Buffer>);
  const body = Buffer.concat(chunks);
  bodies.push((request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString());
  response.setHeader('content-type', 'application/json').end('{}');
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') process.stdout.write(`${address?.port}\n`);
});

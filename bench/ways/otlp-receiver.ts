import { createServer } from 'node:http';

// A collector that accepts every request and keeps nothing. It prints its address.

const server = createServer((incoming, response) => {
  incoming.resume();
  incoming.once('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no address');
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${address.port}` })}\n`);
});
